"""The model server: SDK clients and capabilities, failures with backoff, and token counting.

Enter at `client.open_stream`, `client.get_client`, `client.get_capabilities`, `failures.classify` and
`tokens.count_tokens`.

May import recall.process.token_vocabulary. Never builds a prompt and never reads the database.
"""
