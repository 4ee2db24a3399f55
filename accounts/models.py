"""Accounts' tables: users, API keys, idempotent requests, rate-limit buckets and the staff access log."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.languages import Language


class UserManager(BaseUserManager["User"]):
    """Creates users by email address."""

    use_in_migrations = True

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """A saved user with a hashed password; without one, the user can't sign in by password."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        """A user with every right in the admin."""
        return self.create_user(email, password, **{"is_staff": True, "is_superuser": True, **fields})


def validate_time_zone(name: str) -> None:
    """Refuse a name the time zone database does not have."""
    if name not in available_timezones():
        raise ValidationError("“%(name)s” isn't a time zone. Choose one such as Europe/Lisbon.", params={"name": name})


class User(AbstractUser):
    """A user: signs in by email, has a preferred name, a time zone and a language."""

    class Stage(models.TextChoices):
        """How familiar Recall is with the user; the page calls it Tone."""

        NEW = "NEW", "New"
        DEVELOPING = "DEVELOPING", "Getting familiar"
        COMFORTABLE = "COMFORTABLE", "Comfortable"
        TRUSTED = "TRUSTED", "Trusted"

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField("email address", unique=True)
    preferred_name = models.CharField(max_length=80, blank=True, help_text="How Recall addresses the user")
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])
    language = models.CharField(
        max_length=10,
        choices=Language,
        default=Language.ENGLISH,
        help_text="The language the user writes in, for matching word forms in search",
    )
    words_in = ArrayField(
        models.CharField(max_length=10, choices=Language),
        default=list,
        editable=False,
        help_text="Languages the search index covers: the database adds the chosen one; a former one is removed when"
        " its rows are reindexed",
    )
    chat_model = models.CharField(
        max_length=80, blank=True, help_text="For new conversations; empty: the server's default"
    )
    effort = models.CharField(max_length=6, blank=True, help_text="For new conversations; empty: the model's default")
    relationship_stage = models.CharField(
        max_length=11, blank=True, choices=Stage, help_text="Set by the user; empty: automatic"
    )
    declined_offers = ArrayField(
        models.CharField(max_length=32),
        default=list,
        blank=True,
        help_text="Digests of names and time zones, said in a chat, that aren't to be stored here",
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = []
    objects = UserManager()  # type: ignore[assignment,misc]

    class Meta(AbstractUser.Meta):
        constraints = [models.UniqueConstraint(Lower("email"), name="email_unique_whatever_its_case")]

    def __str__(self) -> str:
        return self.email

    @property
    def zone(self) -> ZoneInfo:
        """The time zone that dates are shown and resolved in."""
        return ZoneInfo(self.time_zone)

    def get_full_name(self) -> str:
        return self.preferred_name or self.email

    def get_short_name(self) -> str:
        return self.preferred_name or self.email.partition("@")[0]


class ApiKey(models.Model):
    """Lets a program act as its owner, within its scopes. Only its hash is stored: the key itself is shown once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=80, help_text="The owner's name for it")
    prefix = models.CharField(max_length=16, help_text="First characters, to recognize it")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the key, which is 256 random bits")
    scopes = ArrayField(models.CharField(max_length=40), help_text="What it allows: see accounts/api/scopes.py")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["user", "-created_at"], name="api_keys_of_a_person")]

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user_id}"


class IdempotentRequest(models.Model):
    """The stored response of an API write, for repeats with the same Idempotency-Key."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of method, address and body")
    status = models.PositiveSmallIntegerField(default=0, help_text="0: in progress")
    content_type = models.CharField(max_length=100, blank=True)
    body = models.BinaryField(default=bytes)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_request_a_key")]
        indexes = [models.Index(fields=["created_at"], name="idempotent_requests_by_age")]

    def __str__(self) -> str:
        return f"request {self.pk} of {self.user_id}"


class ApiRate(models.Model):
    """Token bucket of an API key or a user's sessions (`accounts/api/rate_limit.py`). An unlogged table."""

    holder = models.CharField(max_length=40, primary_key=True, help_text="Such as key:12 or user:3")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    tokens = models.FloatField(help_text="Left in the bucket at that time")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.holder


class AccessLog(models.Model):
    """One staff access to another user's data: who, whose, what and when; never the text."""

    reader = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", help_text="The owner of the data")
    what = models.CharField(max_length=120, help_text="Such as “fact 12” or “a list of facts”")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]
        indexes = [models.Index(fields=["user", "-at"], name="access_latest")]

    def __str__(self) -> str:
        return f"{self.what} of {self.user_id}"
