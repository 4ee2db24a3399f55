"""TODO: what budget/spending owns, where to enter it, what it may import."""
