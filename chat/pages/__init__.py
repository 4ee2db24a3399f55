"""TODO: what chat/pages owns, where to enter it, what it may import."""
