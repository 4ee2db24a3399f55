"""Cost of prompt caching: what Recall pays for a conversation, next to the cheapest way to send it."""
