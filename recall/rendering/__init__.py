"""TODO: what recall/rendering owns, where to enter it, what it may import."""
