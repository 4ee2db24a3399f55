"""MCP server at /mcp: other assistants search a user's memory and propose additions, with an API key.

Enter at `auth.McpMiddleware`. `auth.py` checks host, origin, key and scopes; `tools.py` lists the tools and their
scopes; `server.py` speaks the protocol through the official SDK, loaded on the first request.
May import `chat.tools` and anything below; nothing imports it but `recall.asgi`.
Never keeps anything between requests: no session, no stream, so any web process can answer.
"""
