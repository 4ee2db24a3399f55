"""REST operations of the chat: conversations, turns, attachments, projects, roles, search, imports, preferences.

Enter at the `router` of each module, mounted by `recall/api.py`, the only importer. May import everything below. Never
holds business rules, and never changes an operation id or field without a new version of the API.
"""
