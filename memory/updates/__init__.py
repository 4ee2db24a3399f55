"""What a message does to something known before: a small network reads both together, in whatever words.

Enter at `pairs.py` (reads), `labeled.py` or `talks.py` (what it learns from, `manage.py train-network updates`).
Pure: texts in, updates out. May import the network; never decides or stores: the librarian makes corrections of it.
"""
