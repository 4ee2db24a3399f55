"""Staff in the admin: groups and their rights, the access log, and lists that stay fast on large tables.

Enter at `logged_admin.LoggedAdmin` (rows of users), `logged_admin.RecordAdmin` (read-only records) and
`access_log.log_access`.

May import accounts.models. Never shows a user's row without an entry in the access log.
"""
