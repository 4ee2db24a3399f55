"""Claim or not: whether a statement that was read in a message is worth keeping. A small network reads both together.

Enter at `claims.py` (reads) or `labeled.py` (what it learns from, `manage.py train-network claims`).
Pure: texts in, probabilities out. May import the network; never decides: `rules/` drops or weighs by it.
"""
