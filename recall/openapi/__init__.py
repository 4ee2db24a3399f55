"""TODO: what recall/openapi owns, where to enter it, what it may import."""
