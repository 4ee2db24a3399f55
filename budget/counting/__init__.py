"""TODO: what budget/counting owns, where to enter it, what it may import."""
