"""TODO: what memory/text owns, where to enter it, what it may import."""
