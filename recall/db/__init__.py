"""TODO: what recall/db owns, where to enter it, what it may import."""
