"""TODO: what recall/observability owns, where to enter it, what it may import."""
