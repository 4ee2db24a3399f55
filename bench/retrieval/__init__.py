"""Retrieval: latency as a collection grows, and what search in a large collection loses.

Enter at `python -m bench.retrieval` and `python -m bench.retrieval.large_collection`; `synthetic_rows.py` fills the
tables, `real_texts.py` has the questions.

May import every app and `bench`. Never writes rows one by one: a million of them take minutes.
"""
