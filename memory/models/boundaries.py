"""Wellbeing and safety rules that are always in the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from django.db import models, transaction
from django.db.models import F, Q

from recall.db.prepared import PreparedQuery, Read
from recall.db.quotas import make_room

if TYPE_CHECKING:
    from accounts.models import User


class BoundaryQuerySet(models.QuerySet["Boundary"]):
    """Boundaries: global and personal."""

    def global_ones(self) -> Self:
        """Rules for everyone, in the first system block."""
        return self.filter(user__isnull=True, active=True)

    def for_user(self, user: User) -> Self:
        """Personal boundaries, in the second system block."""
        return self.filter(user=user, active=True)


class Boundary(models.Model):
    """A wellbeing or safety rule that is always in the prompt and never cut."""

    user = models.ForeignKey(
        "accounts.User", null=True, blank=True, on_delete=models.CASCADE, related_name="+", help_text="Empty: for all"
    )
    text = models.TextField()
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BoundaryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "boundaries"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.text[:80]

    @staticmethod
    @transaction.atomic
    def add(user: User, text: str) -> Boundary:
        """Add a personal boundary.

        Raises:
            QuotaError: the user has too many.
        """
        make_room(Boundary.objects.filter(user=user), user.pk)
        return Boundary.objects.create(user=user, text=text)

    @staticmethod
    def for_prompt(user: User) -> list[Boundary]:
        """All boundaries of this user, the global ones first."""
        return _FOR_PROMPT(user=user.pk)

    @staticmethod
    def read_for_prompt(user: User) -> Read:
        """What `for_prompt` reads."""
        return _FOR_PROMPT.read(user=user.pk)


_FOR_PROMPT: Final = PreparedQuery(
    lambda user: Boundary.objects.filter(Q(user__isnull=True) | Q(user=user), active=True).order_by(
        F("user").asc(nulls_first=True), "id"
    ),
    user=int,
)
