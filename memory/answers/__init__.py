"""Answers: whether a memory answers a question. A small network reads both together, where vectors compare them apart.

Enter at `answers.chance` (reads) or `labeled.py` (what it learns from, `manage.py train-network answers`).
May import the network and the query encoder's labels. Never reads the database, and decides nothing: retrieval does.
"""
