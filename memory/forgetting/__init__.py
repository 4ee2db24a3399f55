"""Forgetting: permanently removes a memory and everything derived from it. A dry run, one transaction, a receipt.

Enter at `execute.preview` and `execute.forget`; `targets` names what can be forgotten, `find` what that reaches,
`erase` and `residue` remove it, `rewrite` regenerates summaries, `verify` proves it is gone.
May import librarian and everything below it; other apps take part through `memory/ports/forgettable.py`.
Never keeps the forgotten text, not even in its receipt.
"""
