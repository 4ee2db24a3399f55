"""Users: sign-in, sign-up, preferences, sessions, API keys and account deletion.

Enter at `models.User`; `deletion.delete_account` removes everything of a user; `reauthentication.is_confirmed` guards
exports and deletions. allauth serves the sign-in pages through `adapter.py` and `forms.py`.

May import `recall` only. Never imports memory, budget or chat: it names their models by string.
"""
