"""What is known of a person: facts with their evidence, documents with their history, and the librarian's runs."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, GistIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from pgvector.django import VectorField

from memory.kinds import Kind
from memory.paths import PathField
from recall.ownership import Owned, OwnedManager, OwnedQuerySet

if TYPE_CHECKING:
    from accounts.models import User

VECTOR_DIMENSION = 384
"""Dimension of the default embedding model's vectors (all-MiniLM-L6-v2)."""
GUARANTEED_IMPORTANCE = 0.5
"""A keyed fact of at least this importance is in every prompt (seed 002, stage 1; DESIGN §4, section 4)."""

ZERO_TO_ONE = [MinValueValidator(0.0), MaxValueValidator(1.0)]


class FactQuerySet(OwnedQuerySet):
    """Facts in the words of the design."""

    def active(self) -> Self:
        """Facts that may stand in a prompt now."""
        now = timezone.now()
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=now),
            Q(valid_until__isnull=True) | Q(valid_until__gt=now),
            status=Fact.Status.ACTIVE,
        )

    def proposed(self) -> Self:
        """Facts that wait for a human; never in a prompt."""
        return self.filter(status=Fact.Status.PROPOSED)

    def keyed(self) -> Self:
        """Facts of which one value holds at a time: at most one active a (user, kind, key)."""
        return self.exclude(key="")

    def guaranteed(self) -> Self:
        """Active keyed facts that stand in every prompt, most important first."""
        return self.active().keyed().filter(importance__gte=GUARANTEED_IMPORTANCE).order_by("-importance", "id")


class Fact(Owned):
    """One self-contained statement about the user or their world, with the words it rests on."""

    class Status(models.TextChoices):
        PROPOSED = "proposed", "Proposed"
        ACTIVE = "active", "Active"
        SUPERSEDED = "superseded", "Superseded"
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
    key = models.CharField(max_length=120, blank=True, help_text="Set: one value at a time, as in home or allergy:nuts")
    value = models.TextField(blank=True)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="Base count of the statement")
    confidence = models.FloatField(default=1.0, validators=ZERO_TO_ONE)
    importance = models.FloatField(default=0.5, validators=ZERO_TO_ONE)
    status = models.CharField(max_length=12, choices=Status, default=Status.PROPOSED)
    reason = models.CharField(max_length=200, blank=True, help_text="Why it waits, was accepted or was retired")

    valid_from = models.DateTimeField(null=True, blank=True, help_text="When it began to be true in the world")
    valid_until = models.DateTimeField(null=True, blank=True, help_text="When it stopped being true in the world")
    recorded_at = models.DateTimeField(default=timezone.now, help_text="When Recall came to know it")
    superseded_at = models.DateTimeField(null=True, blank=True)
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes"
    )

    source = models.CharField(max_length=10, choices=Source, default=Source.STATED)
    message = models.ForeignKey("chat.Message", null=True, blank=True, on_delete=models.SET_NULL, related_name="facts")
    quote = models.TextField(blank=True, help_text="The user's own words it rests on, verbatim")
    run = models.ForeignKey("LibrarianRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="facts")
    extracted_by = models.CharField(max_length=60, blank=True, help_text="Engine and version, as in rules/1")

    vector = VectorField(dimensions=VECTOR_DIMENSION, null=True, blank=True)
    embedded_by = models.CharField(max_length=80, blank=True, help_text="Name of the embedding model")
    search = models.GeneratedField(
        expression=SearchVector("statement", config="english") + SearchVector("statement", config="simple"),
        output_field=SearchVectorField(),
        db_persist=True,
    )
    times_used = models.PositiveIntegerField(default=0, help_text="Prompts it stood in")
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = FactQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "kind", "key"],
                condition=Q(status="active") & ~Q(key=""),
                name="one_active_fact_a_key",
            ),
            models.CheckConstraint(
                condition=Q(confidence__range=(0, 1), importance__range=(0, 1)), name="fact_scores_between_0_and_1"
            ),
        ]
        indexes = [
            models.Index(fields=["user", "status"], name="fact_user_status"),
            GinIndex(fields=["user", "search"], name="fact_words"),
        ]

    def __str__(self) -> str:
        return self.statement

    @property
    def ref(self) -> str:
        """How receipts and prompts name this fact."""
        return f"fact:{self.pk}"

    @property
    def importance_level(self) -> int:
        """Importance as people see it: 1 to 5."""
        return 1 + round(self.importance * 4)

    @property
    def is_guaranteed(self) -> bool:
        """It stands in every prompt now: `FactQuerySet.guaranteed` for one row."""
        now = timezone.now()
        holds = (self.valid_from is None or self.valid_from <= now) and (
            self.valid_until is None or self.valid_until > now
        )
        is_weighty = self.key != "" and self.importance >= GUARANTEED_IMPORTANCE
        return self.status == Fact.Status.ACTIVE and is_weighty and holds


class DocumentQuerySet(OwnedQuerySet):
    """Documents by where they stand."""

    def under(self, folder: str) -> Self:
        """The document at `folder` and all below it, such as `/profile`."""
        return self.filter(path__under=folder)


class Document(Owned):
    """A piece of text at a path of the user's knowledge base."""

    class Source(models.TextChoices):
        USER = "user", "Written by the user"
        LIBRARIAN = "librarian", "Written by the librarian"
        UPLOAD = "upload", "Uploaded"
        IMPORT = "import", "Imported"
        SYNC = "sync", "Synchronised from a folder"

    path = PathField(help_text="As typed, such as /profile/identity")
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.USER)
    external_id = models.CharField(max_length=300, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="Base count of the text")
    importance = models.FloatField(default=0.5, validators=ZERO_TO_ONE)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "path"], name="one_document_a_path")]
        indexes = [GistIndex(fields=["path"], name="document_path")]

    def __str__(self) -> str:
        return self.path

    @property
    def ref(self) -> str:
        """How receipts and prompts name this document."""
        return f"document:{self.path}"


class Revision(Owned):
    """One version of a document: who wrote it, and the whole text as it then stood."""

    class Author(models.TextChoices):
        USER = "user", "You"
        LIBRARIAN = "librarian", "The librarian"
        IMPORT = "import", "An import"

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    author = models.CharField(max_length=10, choices=Author, default=Author.USER)
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedManager["Revision"]()

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="one_revision_a_number")]

    def __str__(self) -> str:
        return f"{self.document_id} revision {self.number}"


class BoundaryQuerySet(models.QuerySet["Boundary"]):
    """Boundaries: the global ones, and a person's own."""

    def global_ones(self) -> Self:
        """Rules for everyone, in the first system block."""
        return self.filter(user__isnull=True, active=True)

    def for_user(self, user: User) -> Self:
        """A person's own rules, in the second system block."""
        return self.filter(user=user, active=True)

    def for_prompt(self, user: User) -> list[Boundary]:
        """All that hold for this person, the global ones first."""
        theirs = self.filter(Q(user__isnull=True) | Q(user=user), active=True)
        return list(theirs.order_by(F("user").asc(nulls_first=True), "id"))


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


class LibrarianRunQuerySet(OwnedQuerySet):
    """Runs by what there is to do about them."""

    def due(self, now: datetime) -> Self:
        """Runs to start: pending ones whose time has come, and running ones whose worker is overdue."""
        waiting = Q(state=LibrarianRun.State.PENDING, not_before__lte=now)
        overdue = Q(state=LibrarianRun.State.RUNNING, lease_until__lte=now)
        return self.filter(waiting | overdue)


class LibrarianRun(Owned):
    """One reading of one range of a conversation. The row is the truth; a task only says “look”."""

    class State(models.TextChoices):
        PENDING = "pending", "Waiting"
        RUNNING = "running", "Reading"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    conversation = models.ForeignKey("chat.Conversation", on_delete=models.CASCADE, related_name="librarian_runs")
    first_seq = models.PositiveIntegerField(help_text="First message read")
    last_seq = models.PositiveIntegerField(help_text="Last message read")
    trigger = models.CharField(max_length=12, help_text="ended, idle, left, turns or asked")
    state = models.CharField(max_length=8, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.UUIDField(null=True, blank=True, help_text="Of the worker that reads it now")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="When that worker counts as dead")
    not_before = models.DateTimeField(default=timezone.now, help_text="Earliest next attempt")
    error = models.TextField(blank=True)
    engine = models.CharField(max_length=60, blank=True)
    learned = models.PositiveIntegerField(default=0, help_text="Facts made active")
    waiting = models.PositiveIntegerField(default=0, help_text="Proposals for review")
    dropped = models.JSONField(default=dict, blank=True, help_text="What was not stored: reason → count")
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0, help_text="US dollars")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = LibrarianRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "first_seq", "last_seq"], name="one_librarian_run_a_range")
        ]
        indexes = [
            models.Index(fields=["state", "not_before"], name="run_due", condition=Q(state__in=["pending", "running"]))
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.state}"


class ReviewAction(Owned):
    """What a human decided about a fact, with the rows as they stood before, so that it can be undone."""

    class Verb(models.TextChoices):
        ACCEPT = "accept", "Accepted"
        EDIT = "edit", "Edited and accepted"
        REJECT = "reject", "Rejected"

    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="review_actions")
    verb = models.CharField(max_length=8, choices=Verb)
    by = models.ForeignKey("accounts.User", null=True, on_delete=models.SET_NULL, related_name="+")
    before = models.JSONField(help_text="Changed columns of each changed fact: {fact id: {column: value}}")
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["ReviewAction"]()

    class Meta:
        indexes = [models.Index(fields=["user", "-created_at"], name="review_latest")]

    def __str__(self) -> str:
        return f"{self.verb} fact {self.fact_id}"
