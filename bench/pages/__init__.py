"""Pages over many rows and long texts: the admin, long conversations, conversation search, first load, streaming.

Enter at `python -m bench.pages.NAME`, one module per subject.

May import every app and `bench`. Never touches rows but those of its throw-away database.
"""
