"""TODO: what memory/facts owns, where to enter it, what it may import."""
