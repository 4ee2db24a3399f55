"""Whose row is it? Every row that belongs to a person carries `user`.

A query that is given an id from outside (an address, a form, JSON that was stored) starts at `for_user`. One that
follows a row which was found so, by its foreign key, needs no second look; nor do jobs that serve everybody.
`tests/test_isolation.py` asks for each page and each row as somebody else.
"""

from __future__ import annotations

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models


class OwnedQuerySet(models.QuerySet[Any]):
    """A queryset that can be narrowed to one owner's rows."""

    def for_user(self, user: AbstractBaseUser) -> Self:
        """Only the rows that belong to `user`."""
        return self.filter(user=user)


class OwnedManager[Row: models.Model](models.Manager[Row]):
    """For models that need no words of their own; the others build theirs from a queryset below OwnedQuerySet."""

    def for_user(self, user: AbstractBaseUser) -> models.QuerySet[Row]:
        """Only the rows that belong to `user`."""
        return self.filter(user=user)


class Owned(models.Model):
    """A row that belongs to one person and goes with the account."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        abstract = True
