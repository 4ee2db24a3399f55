"""TODO: what memory/consolidation owns, where to enter it, what it may import."""
