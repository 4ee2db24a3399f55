"""TODO: what recall/process owns, where to enter it, what it may import."""
