"""Evaluation on labeled data: `retrieval/` measures search against baselines, `librarian/` measures extraction.

Both read files only (`datasets.py`: conversations, `librarian/labels.py`: labeled messages) and are run by commands.
May import anything in memory. Never touches a real user's data.
"""
