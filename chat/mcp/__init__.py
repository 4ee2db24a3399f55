"""How do other assistants use a person's Recall? By the Model Context Protocol, at /mcp, with a key of theirs.

gate.py     who may come in: the host and origin that are asked, the key, its scopes; else a refusal and nothing is read
tools.py    which tools they have, by which scope, and what each answers: those of the model's that are about memory
server.py   the official SDK, which speaks the protocol; loaded by the first request that passes the gate

Nothing is kept between requests, so any web process answers any of them: no session, no stream that stays open.
"""
