"""Attachments of messages: images, files and long pastes. Counted in the budget, never used as evidence.

Enter at `upload.accept` (file → draft), `drafts.bind` (draft → message), `prompt_blocks.load` and
`view.attached_to`. `limits.py` has sizes and counts; `images.py` decodes images in a separate process.
May import `chat.models`, `memory.documents.readers` and `budget.counting`.
Never decodes a file in the web process, and never gives a page the bytes or text of an attachment.
"""
