"""The knowledge base: documents in a tree, their revisions, uploads, folder sync, and the profile.

Enter at `revisions.save` (every write is a revision), `tree.move` and `tree.delete`, `uploads.accept`. The librarian
writes profile lines through `profile_updates.refresh_profile`; `profile.profile_lines` reads them for a prompt.

May import facts, index, models and text. Never overwrites what a user wrote: edits are merged or refused. What was
deleted is in `memory/trash.py`.
"""
