"""What conversations hand to memory: chat's implementation of memory's ports.

Enter at `source.ChatSource`, `librarian_triggers.end` and `librarian_triggers.read_if_due`. `echo_sources.py` lists
texts that aren't evidence because Recall wrote them; `conversation_digest.py` summarizes a conversation for its
document; `transcript.py` stores a plain list of utterances. May import `chat.compaction`, `chat.messages`, `budget` and
`memory`. Never extracts facts itself, and never hands over an answer that is still being written.
"""
