"""The query encoder: turns a question into the vector by which memories are searched, near those of its answers.

Enter at `encoder.py` (encodes) or `labeled.py` (what it learns from, `manage.py train-network query_encoder`).

May import the network. Never reads the database, and never encodes a memory: those keep the vectors of `embeddings`.
"""
