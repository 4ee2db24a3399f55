"""The search index: passages of messages, segments and documents, with their words and vectors.

Enter at `indexer.index_conversation`, `indexer.index_document` and, in the background, `indexer.embed_pending`.
`chunking` splits texts; `large_collections` and `language_change` are maintenance jobs.

May import embeddings, ports, models and text. Never decides what is recalled, and never embeds in a request.
"""
