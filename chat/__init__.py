"""Chat: conversations, turns, prompts and everything on the chat pages. The top app.

Packages, top first; none imports one above it: pages → importing → archive → turns → forgetting.py → prompt, tools →
ingest → compaction → conversations → projects → messages → attachments → turn.py, protocol.py, models.py.
Views, api, mcp, admin, tasks, consumer and commands are edges: nothing imports them.
Enter at `consumer.py` (sockets), `turns/` (one turn) or `models.py`. May import every other app. Never imported by
another app: memory and budget declare ports, and chat registers itself in them.
"""
