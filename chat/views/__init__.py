"""Django views of the chat and settings pages: each loads the user's rows, calls one function, renders a template.

Enter at `chat/urls.py`, which lists every view. May import everything below; nothing but `chat/urls.py` imports a view.
Never: business rules, queries for a template (those are in `chat/pages`), or rows of another user.
"""
