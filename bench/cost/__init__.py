"""Cost of prompt caching: what Recall pays for a conversation, next to the cheapest way to send it.

Enter at `python -m bench.cost`; `compare.py` has the targets, `replay.py` builds the prompts, `meter.py` prices them.

May import budget, chat, offline and recall. Never calls a model or the network: replies and prices are computed.
"""
