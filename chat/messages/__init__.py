"""The messages of a conversation: branches, history, and how an answer ended and is shown.

Enter at `history.load_history` (what a prompt may show), `branches.switch_branch` and `rendering.build_message_view`.
May import chat's attachments, turn and models, and memory's index and librarian; never conversations, prompt or turns.
Never changes what was said: messages are an append-only log, and only forgetting edits their text.
"""
