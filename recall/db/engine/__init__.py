"""Django's PostgreSQL engine with session settings of Recall's; Django loads `base`."""
