"""Template tags of every page. Enter at `page_parts` (icons, counts, undo, settings) and `choosing` (options of a
conversation).

May import `chat.pages` and everything below; only templates load it. Never runs a query that a view can run.
"""
