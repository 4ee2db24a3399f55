"""The person: signs in by e-mail, has a name to be called by and a time zone."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower


class UserManager(BaseUserManager["User"]):
    """Makes users by e-mail address."""

    use_in_migrations = True

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """A saved user with a hashed password (none: cannot sign in by password)."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        """A user who may do everything in the admin."""
        return self.create_user(email, password, **{"is_staff": True, "is_superuser": True, **fields})


def validate_time_zone(name: str) -> None:
    """Refuse a name the time zone database does not have."""
    if name not in available_timezones():
        raise ValidationError("“%(name)s” is not a time zone, such as Europe/Lisbon.", params={"name": name})


class User(AbstractUser):
    """Somebody who talks with Recall."""

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField("e-mail address", unique=True)
    preferred_name = models.CharField(max_length=80, blank=True, help_text="What Recall calls you")
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = []
    objects = UserManager()  # type: ignore[assignment,misc]

    class Meta(AbstractUser.Meta):
        constraints = [models.UniqueConstraint(Lower("email"), name="email_unique_whatever_its_case")]

    def __str__(self) -> str:
        return self.email

    @property
    def zone(self) -> ZoneInfo:
        """The time zone that dates are told and resolved in."""
        return ZoneInfo(self.time_zone)

    def get_full_name(self) -> str:
        return self.preferred_name or self.email

    def get_short_name(self) -> str:
        return self.preferred_name or self.email.partition("@")[0]
