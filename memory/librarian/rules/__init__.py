"""The rule engine of the librarian: `engine.py` is the entry point, `patterns.py` the table it reads by."""
