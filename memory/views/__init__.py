"""TODO: what memory/views owns, where to enter it, what it may import."""
