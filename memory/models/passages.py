"""The unit of the index: a passage of a document, of a message or of a segment's summary."""

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Cast
from django.utils import timezone
from pgvector.django import BitField

from memory.models.indexed import Indexed, words_index
from recall.db.ownership import Owned, OwnedManager

WIDTH: Final = 384
"""Signs of a vector: its width, `memory/embeddings/limits.py: DIMENSION`."""


class Chunk(Indexed):
    """A passage of at most 256 word pieces: what the embedding model reads at once.

    `search` holds the passage's own words with weight A, and those of its neighbors (one, two and three places away in
    the same conversation or document) with B, C and D: a question in the words of the sentence before finds it.
    """

    class Kind(models.TextChoices):
        DOCUMENT = "document", "Document"
        MESSAGE = "message", "Message"
        SEGMENT = "segment", "Summary of earlier turns"

    kind = models.CharField(max_length=8, choices=Kind)
    document = models.ForeignKey(
        "memory.Document", null=True, blank=True, on_delete=models.CASCADE, related_name="chunks"
    )
    message = models.ForeignKey("chat.Message", null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    segment = models.ForeignKey("chat.Segment", null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    conversation = models.ForeignKey(
        "chat.Conversation",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="It belongs to",
    )
    number = models.PositiveIntegerField(default=0, help_text="Place of the passage within its source, from 0")
    place = models.PositiveIntegerField(
        default=0, help_text="Place of the source in its conversation: the message's seq"
    )
    text = models.TextField()
    heading = models.CharField(max_length=400, blank=True, help_text="Headings above it in the document")
    author = models.CharField(max_length=80, blank=True, help_text="Who speaks, where it is neither user nor model")
    own_words = models.BooleanField(default=False, help_text="Written by the user")
    omit = models.CharField(max_length=24, blank=True, help_text="Rule that keeps it out of recall; empty: none")
    said_at = models.DateTimeField(default=timezone.now, help_text="When it was said or written")
    tokens = models.PositiveIntegerField(default=0, help_text="Base count of the text")
    search = SearchVectorField(null=True, editable=False)
    signs = models.GeneratedField(
        expression=Cast(models.Func("vector", function="binary_quantize"), BitField(length=WIDTH)),
        output_field=BitField(length=WIDTH, null=True),
        db_persist=True,
    )
    times_used = models.PositiveIntegerField(default=0, help_text="Prompts it was in")
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["Chunk"]()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(
                    Q(kind="document", document__isnull=False, message__isnull=True, segment__isnull=True)
                    | Q(kind="message", document__isnull=True, message__isnull=False, segment__isnull=True)
                    | Q(kind="segment", document__isnull=True, message__isnull=True, segment__isnull=False)
                ),
                name="chunk_of_one_source",
            ),
            models.UniqueConstraint(fields=["document", "number"], name="one_chunk_a_place_of_a_document"),
            models.UniqueConstraint(fields=["message", "number"], name="one_chunk_a_place_of_a_message"),
            models.UniqueConstraint(fields=["segment", "number"], name="one_chunk_a_place_of_a_segment"),
        ]
        indexes = [
            models.Index(fields=["conversation", "place", "number"], name="chunk_neighbours"),
            models.Index(fields=["embedded_by", "id"], name="chunk_model"),
            models.Index(fields=["user", "author"], name="chunk_author"),
            words_index("chunk_words"),
            # All that the first step of a search reads of a row, so that it reads this index and not the rows.
            models.Index(
                fields=["user"],
                include=[
                    *("id", "signs", "embedded_by", "own_words", "author", "said_at"),
                    *("kind", "conversation", "document", "message", "segment"),
                ],
                name="chunk_signs",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} chunk {self.pk}"

    @property
    def ref(self) -> str:
        """How receipts and prompts name the row it belongs to."""
        if self.kind == Chunk.Kind.DOCUMENT:
            return f"chunk:{self.pk}"
        return f"message:{self.message_id}" if self.kind == Chunk.Kind.MESSAGE else f"segment:{self.segment_id}"


class PersonalIndex(Owned):
    """The state of a collection: beyond `COUNTED` rows its words are counted, and the search selects rows by rarity
    first; beyond `LARGE` rows a user gets approximate and word indexes of their own."""

    COUNTED: Final = 2_000
    LARGE: Final = 20_000

    rows = models.PositiveIntegerField(default=0, help_text="Searchable rows when it was last looked at")
    common_words = models.JSONField(default=dict, blank=True, help_text="Lexeme → rows, of those in many rows")
    models_indexed = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    built_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["PersonalIndex"]()

    class Meta:
        verbose_name_plural = "personal indexes"
        constraints = [models.UniqueConstraint(fields=["user"], name="one_personal_index_a_user")]

    def __str__(self) -> str:
        return f"{self.rows} rows"
