"""Consolidation: the nightly clean-up of a user's memory.

Enter at `consolidate.consolidate` (expire, archive, merge; one transaction) and `jobs.request_consolidation` (on
demand, with reports). May import librarian, facts, retrieval and models. Never deletes a memory, never touches
what the user wrote.
"""
