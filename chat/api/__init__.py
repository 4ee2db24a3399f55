"""REST operations of the chat: conversations, turns, attachments, projects, roles, search, imports, preferences.

Entry: the `router` of each module, mounted by `recall/api.py`, the only importer. May import everything below.
Never: business rules, or another operation id or field without a new version of the API.
"""
