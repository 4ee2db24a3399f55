"""TODO: what budget/receipts owns, where to enter it, what it may import."""
