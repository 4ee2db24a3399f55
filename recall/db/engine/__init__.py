"""Django's PostgreSQL engine with Recall's session settings and the acting user on each connection.

Enter at `base.DatabaseWrapper`, which Django loads by the name of this package (`DATABASES` in `recall/settings.py`).

May import `recall.db.acting`. Never imports an app or a model: connections exist before the apps are loaded.
"""
