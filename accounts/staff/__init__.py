"""TODO: what accounts/staff owns, where to enter it, what it may import."""
