"""Retrieval: which memories come back for a question, in which order, and why each of the others was cut.

Enter at `recall.retrieve` and `recall.mark_used`; `conversation_start.find_opening_memory` finds the opening memory.
The steps are `query` (parse), `candidates` with `candidates.sql` (fetch), `ranking` (rerank, deduplicate; pure) and
`followed` (what was written right after the answer).

May import index, embeddings, models and text. Never writes, except use counts and the revival of a used memory.
"""
