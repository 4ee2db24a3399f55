"""Memory's HTML pages: thin views that parse a request, call, and render a page, an htmx part or a redirect.

Enter at `memory/urls.py`, and `memory/admin.py` for the staff queue; nothing else imports this package. May import
everything. Never: business rules, or queries that a page module could own. Without scripts, every form still works.
"""
