"""Imports of conversations and memories from ChatGPT and Claude exports.

Owns: the import job, reading an export entry by entry in bounded memory, and storing only what is new.
Enter at `jobs.accept`, `jobs.run_import` and `view.shown_jobs`. The parsers are `chatgpt.py` and `claude.py`; both
build the tree in `tree.py`, which `upsert.py` stores.
May import `chat.archive` (an archive is one kind of import) and packages below it.
Never unpacks to disk, and never changes a message that exists already.
"""
