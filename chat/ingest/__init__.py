"""TODO: what chat/ingest owns, where to enter it, what it may import."""
