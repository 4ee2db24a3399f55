"""TODO: what chat/prompt owns, where to enter it, what it may import."""
