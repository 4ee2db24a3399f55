"""TODO: what chat/compaction owns, where to enter it, what it may import."""
