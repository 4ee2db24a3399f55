"""TODO: what memory/embeddings owns, where to enter it, what it may import."""
