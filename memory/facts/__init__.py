"""Facts: keys, validity, links, contradiction, deduplication, and which fact replaces which.

Enter at `keys.make_key`, `links.link`, `links.create_superseding`, `deduplication.is_same_statement` and
`withdrawal.end_fact`.

May import `retrieval` and everything below it. Never decides what happens to a proposal: that is
`memory/librarian/decision.py`, or the user in `memory/review`.
"""
