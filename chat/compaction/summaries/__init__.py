"""Summary engines: turns in, a structured summary out. No database.

Enter at `select_engine.choose_engine` and `select_engine.summarize`. `schema.py` defines a summary and renders it,
`merge.py` merges several; `model_engine.py` asks a language model, `rule_engine.py` picks sentences without one.
May import `chat.conversations.topics`, `memory.text`, `memory.librarian.rules` and `recall.llm`.
Never fails without a summary: the rules replace a model that fails.
"""
