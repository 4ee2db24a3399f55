"""TODO: what budget/views owns, where to enter it, what it may import."""
