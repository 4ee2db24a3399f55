"""TODO: what chat/messages owns, where to enter it, what it may import."""
