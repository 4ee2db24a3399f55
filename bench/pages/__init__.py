"""Pages over many rows: the admin, a long conversation, and conversation search."""
