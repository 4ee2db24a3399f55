"""TODO: what memory/retrieval owns, where to enter it, what it may import."""
