"""Row ownership: every row of a user carries `user`, and queries narrow to it with `for_user`.

A query by an id from outside (a URL, a form, stored JSON) starts at `for_user`. One that follows a foreign key of a row
found that way needn't, nor do jobs for all users. `tests/test_isolation.py` requests each page and row as another user.
"""

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models


class OwnedQuerySet(models.QuerySet[Any]):
    """A queryset that can be narrowed to one owner's rows."""

    def for_user(self, user: AbstractBaseUser) -> Self:
        """Only the rows of `user`."""
        return self.filter(user=user)


class OwnedManager[Row: models.Model](models.Manager[Row]):
    """For models without a queryset of their own; others derive one from OwnedQuerySet."""

    def for_user(self, user: AbstractBaseUser) -> models.QuerySet[Row]:
        """Only the rows of `user`."""
        return self.filter(user=user)


class Owned(models.Model):
    """A row of one user, deleted with the account."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        abstract = True
