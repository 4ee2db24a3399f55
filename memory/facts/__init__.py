"""Facts: users' decisions about them, and how they relate.

Owns review decisions and their undo, merging, withdrawing, links between facts, keys, validity, contradiction and
deduplication. Enter at `review.accept`, `review.correct`, `withdrawal.end_fact` and `links.link`. May import
`retrieval` and everything below it, and documents for the lines that follow a fact. Never decides what happens to a
proposal: that is `memory/librarian/decision.py`.
"""
