"""TODO: what memory/documents owns, where to enter it, what it may import."""
