"""The index: documents, messages and summaries become searchable passages, with full text and vector.

Enter at `indexer.index_utterances`, `indexer.embed_pending` and `chunking.chunk_text`.
May import embeddings, ports, models and text. Never decides what is recalled.
"""
