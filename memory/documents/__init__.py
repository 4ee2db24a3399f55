"""The knowledge base: documents at paths, their revisions, uploads, folder sync, profile documents and the trash.

Enter at `revisions.save`, `tree.move` and `profile.profile_lines`. Readers of files are in `readers/`.
May import facts, retrieval and everything below them. Never writes into a line that the user wrote.
"""
