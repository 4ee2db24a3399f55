"""Secrets: passwords, keys, codes, card and identity numbers. Never stored as memories, and masked after their turn.

Enter at `secrets_filter.mask_secrets` and `sensitive`. `learned.py` marks secrets that no word or shape gives away
(`marked.py`: what it learned from). Pure. May import the network and texts.
"""
