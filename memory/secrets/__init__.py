"""Secrets: passwords, keys, codes, card and identity numbers. Never stored as memories, and masked after their turn.

Enter at `secrets_filter.mask_secrets` and `sensitive`. `learned.py` marks secrets that no word or shape gives away
(`marked.py`: what it learned from); `governed.py` knows by its grammar what is none. Pure. May import the network and
texts.
"""
