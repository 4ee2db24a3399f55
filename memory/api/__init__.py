"""REST operations of memory, below /api/v1/memory: one thin module per resource, which parses, calls and answers.

Enter at `routes.router`, mounted by `recall/api.py`, the only importer. May import everything in memory but views.
Never holds business rules, and never changes an operation id or field without a new version of the API.
"""
