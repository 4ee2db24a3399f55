"""Template filters of memory's pages: words for facts, keys and documents.

Enter at `memory_words`.

May import `memory.pages` and everything below; only templates load it. Never reads the database.
"""
