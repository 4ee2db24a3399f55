"""Conversations as a whole: list, search, titles, options, archiving, trash and retention.

Enter at `listing.conversation_list`, `search.search`, `options.update_options`, `trash.delete` and
`retention.apply`. `topics.py` finds the topics of texts by rules; `model_choice.py` lists the models on offer.
May import `chat.projects`, `chat.messages`, `budget` and `memory`.
Never reads prompts or runs turns; deleting here keeps what was learned (`memory/forgetting/` erases that).
"""
