"""The messages of a conversation: branches, history, and how an answer ended and is shown.

Enter: `history.load_history` (what a prompt may show), `branches.switch_branch`, `rendering.build_message_view`.
Imports: chat's attachments, turn, models; memory's index and librarian. Never conversations, prompt or turns.
Never: change what was said. Messages are an append-only log; only forgetting edits their text.
"""
