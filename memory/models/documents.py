"""Documents of the knowledge base: their paths, every revision, and uploads in progress."""

from typing import Final, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GistIndex
from django.db import models
from django.db.models import Q

from memory.models.indexed import ZERO_TO_ONE
from memory.models.paths import PathField
from memory.text.fact_lines import without_facts, without_marks
from recall.db.ownership import Owned, OwnedManager, OwnedQuerySet

STARTERS: Final = ("/profile/identity", "/profile/preferences", "/profile/goals")
"""Documents that every profile starts with, empty (`memory/documents/revisions.py: BEGINNINGS`)."""


class DocumentQuerySet(OwnedQuerySet):
    """Documents, filtered by path."""

    def under(self, folder: str) -> Self:
        """The document at `folder` and everything below it, such as `/profile`."""
        return self.filter(path__under=folder)

    def written(self) -> Self:
        """Without the starter documents that are empty: they aren't counted or listed."""
        return self.exclude(text="", path__in=STARTERS)


class Document(Owned):
    """A piece of text at a path of the user's knowledge base."""

    class Source(models.TextChoices):
        USER = "user", "Written by the user"
        LIBRARIAN = "librarian", "Written by Recall"
        UPLOAD = "upload", "Uploaded"
        IMPORT = "import", "Imported"
        SYNC = "sync", "Synchronized from a folder"

    path = PathField(help_text="As typed, such as /profile/identity")
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.USER)
    external_id = models.CharField(max_length=300, blank=True, help_text="Its name at its source")
    content_hash = models.CharField(max_length=64, blank=True, help_text="SHA-256 of what was read from the source")
    tokens = models.PositiveIntegerField(default=0, help_text="Base count of the text")
    importance = models.FloatField(default=0.5, validators=ZERO_TO_ONE)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "path"], name="one_document_a_path"),
            models.UniqueConstraint(
                fields=["user", "source", "external_id"], condition=~Q(external_id=""), name="one_document_a_source"
            ),
        ]
        indexes = [GistIndex(fields=["path"], name="document_path")]

    def __str__(self) -> str:
        return self.path

    @property
    def ref(self) -> str:
        """How receipts and prompts name this document."""
        return f"document:{self.path}"

    @property
    def display_text(self) -> str:
        """The text for pages and prompts, without the librarian's marks."""
        return without_marks(self.text)

    @property
    def index_text(self) -> str:
        """The text for the index, without fact lines: each is found as its fact."""
        return without_facts(self.text)


class Revision(Owned):
    """One revision of a document: its author and the whole text at that time."""

    class Author(models.TextChoices):
        USER = "user", "You"
        LIBRARIAN = "librarian", "Recall"
        IMPORT = "import", "An import"
        SYNC = "sync", "Synchronized"

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


class DeletedDocument(Owned):
    """A deleted document, kept for as long as it can be restored."""

    path = PathField(help_text="Its path at that time")
    deleted_at = models.DateTimeField(db_index=True, help_text="The same for all that one click deleted")
    rows = models.TextField(help_text="The document and its versions, as Django serialises rows")
    decisions = ArrayField(
        models.BigIntegerField(),
        default=list,
        help_text="Ids of the review actions that rejected facts of its lines",
    )

    objects = OwnedManager["DeletedDocument"]()

    def __str__(self) -> str:
        return f"{self.path}, deleted"


class Upload(Owned):
    """A file that is becoming a document: read in the background, with its progress."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        READING = "reading", "Reading"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    name = models.CharField(max_length=255, help_text="As the file was called")
    media_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField(help_text="Bytes")
    folder = models.CharField(max_length=500, help_text="Path of the folder it goes to")
    content = models.BinaryField(null=True, blank=True, help_text="Kept until it is read")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    error = models.TextField(blank=True, help_text="One sentence for the user")
    document = models.ForeignKey(Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="uploads")
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True, help_text="When its reader counts as dead")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["Upload"]()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["state", "created_at"], name="upload_due", condition=Q(state__in=["waiting", "reading"])
            )
        ]

    def __str__(self) -> str:
        return f"upload {self.pk}: {self.state}"
