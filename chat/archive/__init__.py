"""Recall archives: everything a user has as one zip, and its restore into an empty account.

Enter at `export.archive`, `restore.restore_archive`. `tables.py` lists the tables and columns of an archive, with a
reason for each column left out; `safe_zip.py` opens zips from outside within limits.
May import models of every app, `chat.messages` and `chat.attachments`.
Never restores half an archive, and never trusts what a zip or manifest claims. File format: docs/import-export.md.
"""
