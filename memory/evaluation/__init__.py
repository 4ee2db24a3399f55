"""Does Recall find the evidence? Conversations with known answers, asked through the product's own retrieval."""
