"""Where allauth asks Recall: nothing is stored in a user name, which Recall does not have."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Users are known by their e-mail address alone."""

    def populate_username(self, request: Any, user: Any) -> None:
        """There is no user name to fill in."""
