"""Background work: the librarian under load, and consolidation of a large memory.

Enter at `python -m bench.librarian.load` and `python -m bench.librarian.consolidation`.

May import every app and `bench`. Never touches rows but those of its throw-away database.
"""
