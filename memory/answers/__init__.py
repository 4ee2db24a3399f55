"""Answers: whether a memory answers a question. A small network reads both together, where vectors compare them apart.

Enter at `answers.chance` (reads) or `labeled.py` (what it learns from, `manage.py train-network answers`;
`counterfactual.py` asks a labeled question of someone else).
May import the network, the query encoder's labels and `memory.text`. Never reads the database, and decides nothing:
retrieval does.
"""
