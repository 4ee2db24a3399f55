"""TODO: what accounts/api owns, where to enter it, what it may import."""
