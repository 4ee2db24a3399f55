"""REST operations of memory, below /api/v1/memory: one module a resource, thin: parse, call, answer.

Entry: `routes.router`, mounted by `recall/api.py`, the only importer. May import everything in memory but views.
Never: business rules, or another operation id or field without a new version of the API.
"""
