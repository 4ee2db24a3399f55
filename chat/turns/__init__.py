"""TODO: what chat/turns owns, where to enter it, what it may import."""
