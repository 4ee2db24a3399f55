"""The librarian's rule engine: `engine.py` tells the story, `patterns.py` holds the table."""
