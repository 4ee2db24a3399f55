"""The rule engine of the librarian, small and without a model. It reads English, and nothing in other languages.

Enter at `engine.py`; `table.py` holds what it reads, `judged.py` what of it is worth keeping, and `tagged.py` takes
what the tagger (`memory/librarian/tagger/`) marks in other words.

May import the librarian's networks, `facts.keys`, secrets, speech acts and text. Never reads the database or decides:
`memory/librarian/decision.py` does.
"""
