"""Retrieval: `python -m bench.retrieval`, and what a large collection's search loses (`large_collection`)."""
