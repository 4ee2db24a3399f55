"""Cost of prompt caching: what Recall pays for a conversation, beside the cheapest way to hold it."""
