"""A small server that speaks the model provider's protocol, for use without a key and for tests.

It is no language model: see `docs/offline.md`. Run it with `uvicorn offline.app:app`.
"""
