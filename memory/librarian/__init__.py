"""TODO: what memory/librarian owns, where to enter it, what it may import."""
