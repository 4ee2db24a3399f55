"""The offline server: a small server that speaks the provider's Messages API, for use without a key and for tests.

Owns the protocol as the SDK speaks it (`protocol/`: validation, counting, prompt cache, streaming) and a modest
rule-based responder (`responder/`). Enter at `app.py` (routes) and `messages.py` (one request from validation to
answer). Imports nothing from Recall, and nothing in Recall imports it. Never pretends to be a language model.
"""
