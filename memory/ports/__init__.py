"""TODO: what memory/ports owns, where to enter it, what it may import."""
