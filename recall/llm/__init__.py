"""TODO: what recall/llm owns, where to enter it, what it may import."""
