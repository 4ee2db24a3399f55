"""What memory's pages show: one module a page, each returning the template's context as plain data.

Enter at `about.py`, `review.py`, `fact.py`, `search.py`; called by views, the API and template filters only.
May import every other package of memory but views and api. Never: read a request, render a template, change a row.
"""
