"""TODO: what budget/planning owns, where to enter it, what it may import."""
