"""Episodes: significant stretches of conversation, written up as short narratives (seed 004, layer 4)."""

from typing import Final, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memory.models.indexed import ZERO_TO_ONE, Indexed, words_index
from memory.models.kinds import EpisodeKind, EpisodeOutcome
from recall.db.ownership import OwnedQuerySet
from recall.environment import setting

KEY_MOMENT: Final = setting("key_moment_significance", 0.7)
"""Minimum significance of a key moment of a conversation."""


class EpisodeQuerySet(OwnedQuerySet):
    """Episodes, filtered by state."""

    def not_deleted(self) -> Self:
        """Excludes episodes of deleted conversations; an episode without a conversation stays."""
        return self.filter(conversation__deleted_at=None)

    def live(self) -> Self:
        """Excludes episodes that were merged into another or dropped by the limit."""
        return self.filter(status=Episode.Status.LIVE)

    def unmerged(self) -> Self:
        """Excludes merged episodes, which others contain; those over the limit are included."""
        return self.exclude(status=Episode.Status.MERGED)

    def latest_first(self) -> Self:
        """Ordered for the timeline, latest first."""
        return self.order_by("-happened_at", "-id")

    def in_turn_order(self) -> Self:
        """Ordered by their place in the conversation."""
        return self.order_by("first_turn", "last_turn", "id")


class Episode(Indexed):
    """One significant stretch of a conversation: what happened, who took part, how it ended."""

    Kind = EpisodeKind
    Outcome = EpisodeOutcome

    class Status(models.TextChoices):
        LIVE = "live", "Live"
        MERGED = "merged", "Merged into another"
        ARCHIVED = "archived", "Archived"

    conversation = models.ForeignKey(
        "chat.Conversation", null=True, blank=True, on_delete=models.CASCADE, related_name="episodes"
    )
    run = models.ForeignKey(
        "memory.LibrarianRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="episodes"
    )
    first_turn = models.PositiveIntegerField(default=0)
    last_turn = models.PositiveIntegerField(default=0)
    kind = models.CharField(max_length=16, choices=EpisodeKind, default=EpisodeKind.PLAIN)
    title = models.CharField(max_length=200)
    summary = models.TextField()
    context = models.TextField(blank=True, help_text="What led to it")
    participants = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    outcome = models.CharField(max_length=11, choices=EpisodeOutcome, blank=True, default=EpisodeOutcome.NONE)
    tone = models.CharField(max_length=40, blank=True, help_text="Emotional tone, in a word")
    valence = models.FloatField(default=0.0, help_text="−1 (bad) to 1 (good)")
    significance = models.FloatField(default=0.5, validators=ZERO_TO_ONE)
    topics = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    facts = models.ManyToManyField("memory.Fact", blank=True, related_name="episodes")
    happened_at = models.DateTimeField(default=timezone.now)
    recorded_at = models.DateTimeField(default=timezone.now)
    status = models.CharField(max_length=8, choices=Status, default=Status.LIVE)
    merged_into = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="merged")
    tokens = models.PositiveIntegerField(default=0, help_text="Base count of title and summary")
    extracted_by = models.CharField(max_length=60, blank=True, help_text="Engine and version")
    search = SearchVectorField(null=True, editable=False)  # by a trigger, in the user's language
    times_used = models.PositiveIntegerField(default=0, help_text="Prompts it was in")
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = EpisodeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(valence__range=(-1, 1), significance__range=(0, 1)), name="episode_scores_in_range"
            ),
            models.CheckConstraint(condition=Q(last_turn__gte=models.F("first_turn")), name="episode_turns_in_order"),
            models.UniqueConstraint(
                fields=["conversation", "first_turn", "last_turn"],
                condition=Q(status="live"),
                name="one_live_episode_a_turn_range",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "status", "-happened_at"], name="episode_timeline"),
            models.Index(fields=["embedded_by", "id"], name="episode_model"),
            words_index("episode_words"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def ref(self) -> str:
        """How receipts and prompts name this episode."""
        return f"episode:{self.pk}"
