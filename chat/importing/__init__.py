"""How do conversations that were held elsewhere come in, and what else an export holds?

jobs.py       the file is kept as a job, read in the background in stretches, and can be stopped
entries.py    which entries does the file hold? (a JSON file, or the zip it came in; in bounded memory)
splitting.py  where does one entry of a JSON array end?
chatgpt.py    what does an entry of a ChatGPT export say?
claude.py     what does an entry of a Claude export say?
threads.py    the shape both become: a tree of what was said
keeping.py    which rows are new? (the same export again, or a newer one, adds only what is new)
limits.py     how much is read
said.py       a plain list of utterances, as the evaluation brings it (`memory.ports.source.ConversationSource.store`)
"""

from chat.importing.transcript import store

__all__ = ["store"]
