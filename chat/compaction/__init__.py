"""Compaction: older turns replaced by a summary in prompts. The messages stay, archived.

Enter at `jobs.request_compaction`, `jobs.run_compaction` and `rewrite.regenerate_summary`. `triggers.py` decides when,
`window.py` which turns, `segments.py` stores the result; `summaries/` writes the text.
May import `chat.conversations`, `chat.messages`, `chat.attachments`, `budget` and `memory`.
Never runs while an answer is being generated for the user, and never deletes a message.
"""
