"""Template tags of every page: `page_parts` (icons, counts, undo, settings) and `choosing` (a conversation's options).

May import `chat.pages` and everything below; only templates load it. Never runs a query that a view can run.
"""
