"""TODO: what chat/projects owns, where to enter it, what it may import."""
