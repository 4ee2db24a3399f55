"""Retrieval: from a question to ranked, explained memories.

Enter at `recall.retrieve`; the path is `query.parse_question`, `candidates.CandidateSearch`, `ranking.rerank`.
May import index and everything below it. Never changes a memory, except to count a use and revive an archived one.
"""
