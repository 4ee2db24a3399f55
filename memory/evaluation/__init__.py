"""Evaluation on labeled data: `retrieval/` measures search against baselines, `librarian/` measures extraction.

Enter at `retrieval.run.evaluate` and `librarian.run.evaluate_messages`, which commands call. Both read files only:
`datasets.py` has conversations, `librarian/labels.py` labeled messages.

May import anything in memory. Never touches a real user's data.
"""
