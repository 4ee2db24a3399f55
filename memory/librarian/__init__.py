"""The librarian: reads conversations and stores the facts, episodes and document lines found in them.

Enter at `run.request_reading` (queue a range), `run.run_extraction` (the worker) and `remember.propose` (one statement,
from a tool). `decision.decide` says what happens to a proposed fact, and why; `engine.py` is the protocol of the two
extraction engines, `model_engine.py` and `rules/`.

May import memory's documents, facts, retrieval, index, embeddings, ports, models and text. Never stores a fact without
a decision, and holds no database connection while an engine works.
"""
