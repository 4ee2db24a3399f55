"""Facts with their evidence, the links between them, and review decisions."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Subquery, When
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from memory.models.indexed import ZERO_TO_ONE, Indexed, words_index
from memory.models.kinds import Kind
from recall.db.ownership import Owned, OwnedManager, OwnedQuerySet
from recall.db.postgres import FEW_WAITING
from recall.environment import setting

GUARANTEED_IMPORTANCE = setting("profile_min_importance", 0.5)
"""A keyed fact of at least this importance is in every prompt (seed 002, stage 1; DESIGN §4, section 4)."""


class FactQuerySet(OwnedQuerySet):
    """Facts, filtered by state and time."""

    def active(self, now: datetime | None = None) -> Self:
        """Facts that may be in a prompt now."""
        return self.valid_at(now or timezone.now()).filter(status=Fact.Status.ACTIVE)

    def valid_at(self, moment: datetime) -> Self:
        """Facts that were true in the world at `moment`, as far as is known today."""
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=moment),
            Q(valid_until__isnull=True) | Q(valid_until__gt=moment),
        )

    def known_at(self, moment: datetime, *, true_at: datetime | None = None) -> Self:
        """Facts that Recall held true at `moment`: stored or accepted by then, not yet withdrawn, and valid in the
        world.

        `true_at`: valid in the world at this moment instead.

        A decision that was undone later counts until it was undone. Archived facts count as known. Statements have
        today's wording: an undone wording is not stored.
        """
        taken = ~Q(status__in=[Fact.Status.PROPOSED, Fact.Status.REJECTED]) | Q(withdrawn_at__isnull=False)
        not_given_up = Q(superseded_at__isnull=True) | Q(superseded_at__gt=moment)
        not_given_up &= Q(withdrawn_at__isnull=True) | Q(withdrawn_at__gt=moment)
        found = self.filter(recorded_at__lte=moment).alias(
            known_from=Coalesce("accepted_at", "recorded_at"), as_then_decided=_as_decided_then(moment)
        )
        as_decided_now = Q(as_then_decided__isnull=True, known_from__lte=moment) & taken & not_given_up
        return found.filter(Q(as_then_decided=True) | as_decided_now).valid_at(true_at or moment)

    def proposed(self) -> Self:
        """Facts that wait for a human; never in a prompt."""
        return self.filter(status=Fact.Status.PROPOSED)

    def keyed(self) -> Self:
        """Facts with one value at a time: at most one active fact per (user, key)."""
        return self.exclude(key="")

    def unconfirmed(self) -> Self:
        """Facts that no user stated, edited or accepted. Only these may fade, if they have no key (DESIGN §6)."""
        return self.exclude(source__in=[Fact.Source.STATED, Fact.Source.EDITED]).filter(accepted_at__isnull=True)

    def uncontested(self) -> Self:
        """Facts that no proposal contradicts."""
        against = FactLink.objects.filter(
            to_fact=OuterRef("pk"), relation=FactLink.Relation.CONTRADICTS, from_fact__status=Fact.Status.PROPOSED
        )
        return self.filter(~Exists(against))

    def guaranteed(self, now: datetime | None = None) -> Self:
        """Active keyed facts that are in every prompt, most important first."""
        return self.active(now).keyed().filter(importance__gte=GUARANTEED_IMPORTANCE).order_by("-importance", "id")


def _as_decided_then(moment: datetime) -> Subquery:
    """Whether a decision in force at `moment` and undone later made the fact true; null without one.

    The latest such decision counts: decisions are undone in reverse order.
    """
    stood = ReviewAction.objects.filter(
        user=OuterRef("user"),
        created_at__lte=moment,
        undone_at__gt=moment,
        before__has_key=Cast(OuterRef("pk"), models.TextField()),
    )
    # A fact that a decision changed without being about it was superseded by it, or holds again since a rejection.
    is_rejection = Q(verb=ReviewAction.Verb.REJECT)
    is_about_it = Q(fact=OuterRef("pk"))
    made_it_known = (is_about_it & ~is_rejection) | (is_rejection & ~is_about_it)
    known = Case(When(made_it_known, then=True), default=False, output_field=models.BooleanField())
    return Subquery(stood.order_by("-created_at", "-pk").annotate(known=known).values("known")[:1])


class Fact(Indexed):
    """One self-contained statement about the user or their world, with its evidence."""

    class Status(models.TextChoices):
        PROPOSED = "proposed", "Proposed"
        ACTIVE = "active", "Active"
        SUPERSEDED = "superseded", "Replaced"
        REJECTED = "rejected", "Rejected"
        EXPIRED = "expired", "Expired"
        ARCHIVED = "archived", "Archived"

    class Source(models.TextChoices):
        STATED = "stated", "Stated by the user"
        EDITED = "edited", "Edited by the user"
        IMPORTED = "imported", "Imported"
        INFERRED = "inferred", "Inferred"

    statement = models.TextField(help_text="Understandable on its own, about “the user”")
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.FACT)
    key = models.CharField(
        max_length=120, blank=True, help_text="Subject and attribute, as in user/home; set: one value at a time"
    )
    value = models.TextField(blank=True)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="Base count of the statement")
    confidence = models.FloatField(default=1.0, validators=ZERO_TO_ONE)
    importance = models.FloatField(default=0.5, validators=ZERO_TO_ONE)
    status = models.CharField(max_length=12, choices=Status, default=Status.PROPOSED)
    reason = models.CharField(max_length=200, blank=True, help_text="Why it waits, was accepted or was retired")

    valid_from = models.DateTimeField(null=True, blank=True, help_text="When it became true in the world")
    valid_until = models.DateTimeField(null=True, blank=True, help_text="When it stopped being true in the world")
    recorded_at = models.DateTimeField(default=timezone.now, help_text="When Recall came to know it")
    accepted_at = models.DateTimeField(
        null=True, blank=True, help_text="When the user accepted it; empty: stored right away, or still waiting"
    )
    superseded_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(
        null=True, blank=True, help_text="When the user rejected it after it had been active"
    )
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes"
    )

    source = models.CharField(max_length=10, choices=Source, default=Source.STATED)
    message = models.ForeignKey("chat.Message", null=True, blank=True, on_delete=models.SET_NULL, related_name="facts")
    quote = models.TextField(blank=True, help_text="The user's own words it rests on, verbatim")
    run = models.ForeignKey("LibrarianRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="facts")
    extracted_by = models.CharField(max_length=60, blank=True, help_text="Engine and version, as in rules/1")

    search = SearchVectorField(null=True, editable=False)  # by a trigger, in the user's language
    times_used = models.PositiveIntegerField(default=0, help_text="Prompts it was in")
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = FactQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "key"],
                condition=Q(status="active") & ~Q(key=""),
                name="one_active_fact_a_key",
            ),
            models.CheckConstraint(
                condition=Q(confidence__range=(0, 1), importance__range=(0, 1)), name="fact_scores_between_0_and_1"
            ),
        ]
        indexes = [
            models.Index(fields=["user", "status"], name="fact_user_status"),
            models.Index(fields=["embedded_by", "id"], name="fact_model"),
            words_index("fact_words"),
            GinIndex(fields=["search"], gin_pending_list_limit=FEW_WAITING, name="fact_search"),  # staff search all
        ]

    def __str__(self) -> str:
        return self.statement

    @property
    def ref(self) -> str:
        """How receipts and prompts name this fact."""
        return f"fact:{self.pk}"

    @property
    def importance_level(self) -> int:
        """Importance as shown to users: 1 to 5."""
        return 1 + round(self.importance * 4)


class FactLink(Owned):
    """How one fact relates to another (seed 004, “Relationship Graphs”)."""

    class Relation(models.TextChoices):
        RELATED_TO = "related_to", "Related to"
        DEPENDS_ON = "depends_on", "Depends on"
        CONTRADICTS = "contradicts", "Contradicts"
        SUPERSEDES = "supersedes", "Supersedes"
        PART_OF = "part_of", "Part of"
        CAUSED_BY = "caused_by", "Caused by"

    from_fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="links")
    to_fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="linked_from")
    relation = models.CharField(max_length=12, choices=Relation, default=Relation.RELATED_TO)
    strength = models.FloatField(default=0.5, validators=ZERO_TO_ONE)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedManager["FactLink"]()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["from_fact", "to_fact", "relation"], name="one_link_a_relation"),
            models.CheckConstraint(condition=~Q(from_fact=models.F("to_fact")), name="no_link_to_itself"),
            models.CheckConstraint(condition=Q(strength__range=(0, 1)), name="link_strength_between_0_and_1"),
        ]
        indexes = [models.Index(fields=["user", "relation"], name="link_relation")]

    def __str__(self) -> str:
        return f"{self.from_fact_id} {self.relation} {self.to_fact_id}"


class ReviewAction(Owned):
    """A human decision about a fact, with the previous values for undo."""

    class Verb(models.TextChoices):
        ACCEPT = "accept", "Accepted"
        EDIT = "edit", "Edited and accepted"
        REJECT = "reject", "Rejected"
        KEEP_BOTH = "keep_both", "Kept beside the other"
        UNRELATED = "unrelated", "Kept, no contradiction"
        MERGE = "merge", "Merged"

    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="review_actions")
    verb = models.CharField(max_length=9, choices=Verb)
    batch = models.UUIDField(null=True, blank=True, help_text="Decisions taken by one click, undone by one")
    by = models.ForeignKey("accounts.User", null=True, on_delete=models.SET_NULL, related_name="+")
    before = models.JSONField(help_text="Changed columns of each changed fact: {fact id: {column: value}}")
    links = models.JSONField(
        default=list, blank=True, help_text="Contradictions it settled: [[from, to, relation, strength or null], …]"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["ReviewAction"]()

    class Meta:
        indexes = [
            models.Index(fields=["user", "-created_at"], name="review_latest"),
            models.Index(fields=["user", "batch"], name="review_batch", condition=Q(batch__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.verb} fact {self.fact_id}"
