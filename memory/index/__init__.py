"""TODO: what memory/index owns, where to enter it, what it may import."""
