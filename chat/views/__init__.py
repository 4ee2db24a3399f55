"""TODO: what chat/views owns, where to enter it, what it may import."""
