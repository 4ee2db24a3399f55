"""TODO: what chat/conversations owns, where to enter it, what it may import."""
