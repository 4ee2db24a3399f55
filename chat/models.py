"""Tables of the chat: conversations, their messages (an event log that may branch), roles, segments and jobs."""

import uuid
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Left
from django.utils import timezone

from memory.models.paths import is_path
from recall.db.ownership import Owned, OwnedManager, OwnedQuerySet
from recall.db.postgres import FEW_WAITING


class Role(Owned):
    """Instructions the user wrote for a kind of conversation, such as “patient Portuguese teacher”."""

    name = models.CharField(max_length=80)
    instructions = models.TextField()
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedManager["Role"]()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_role_a_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def prompt_text(self) -> str:
        """The role in a prompt."""
        return f"{self.name}\n{self.instructions}"


class Project(Owned):
    """A folder of the knowledge base with instructions: its conversations recall it first, or only it."""

    name = models.CharField(max_length=80)
    path = models.CharField(max_length=500, validators=[is_path], help_text="Folder, such as /projects/garden")
    instructions = models.TextField(blank=True, help_text="Added to the prompt of its conversations")
    only_project = models.BooleanField(default=False, help_text="New conversations recall from this project only")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["Project"]()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "path"], name="one_project_a_folder")]

    def __str__(self) -> str:
        return self.name

    @property
    def prompt_text(self) -> str:
        """The project in a prompt; empty without instructions."""
        return f"{self.name}\n{self.instructions}" if self.instructions else ""


class ConversationQuerySet(OwnedQuerySet):
    """Conversations by state."""

    def not_deleted(self) -> Self:
        """Conversations not in the trash: everything shown, recalled or read starts here
        (chat/conversations/trash.py)."""
        return self.filter(deleted_at=None)

    def latest_first(self) -> Self:
        """In the order of the conversation list."""
        return self.order_by("-last_activity_at")


class Conversation(Owned):
    """One conversation. `active_leaf` marks the active branch of its messages."""

    class Status(models.TextChoices):
        ACTIVE = "active", "Active"
        PAUSED = "paused", "Paused"
        ENDED = "ended", "Ended"

    class Effort(models.TextChoices):
        DEFAULT = "", "The model's default"
        LOW = "low", "Low"
        MEDIUM = "medium", "Medium"
        HIGH = "high", "High"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=6, choices=Status, default=Status.ACTIVE)
    role = models.ForeignKey(Role, null=True, blank=True, on_delete=models.SET_NULL, related_name="conversations")
    model = models.CharField(max_length=80, blank=True, help_text="Empty: the CHAT_MODEL setting")
    effort = models.CharField(max_length=6, choices=Effort, blank=True, default=Effort.DEFAULT)
    scope = models.CharField(max_length=500, blank=True, validators=[is_path], help_text="A /projects/… path, or empty")
    only_project = models.BooleanField(default=False, help_text="Recalls from its scope only")
    title_is_own = models.BooleanField(default=False, help_text="Set by the user; never replaced automatically")
    pinned_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True, help_text="Hidden everywhere; purged after 30 minutes")
    started_at = models.DateTimeField(default=timezone.now)
    last_activity_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    active_leaf = models.ForeignKey("Message", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    next_seq = models.PositiveIntegerField(default=1, help_text="Number of the next message")
    cut_from = models.PositiveIntegerField(default=0, help_text="First turn behind the placeholder; 0: none")
    cut_until = models.PositiveIntegerField(default=0, help_text="Last turn behind the placeholder")
    task = models.JSONField(default=dict, blank=True, help_text="Goal, steps and done, as last set by the model")
    librarian_watermark = models.PositiveIntegerField(default=0, help_text="Last message covered by a librarian run")
    origin = models.CharField(
        max_length=20, blank=True, help_text="Where it was imported from, such as chatgpt; empty: here"
    )
    external_id = models.CharField(max_length=200, blank=True, help_text="Its id there")

    objects = ConversationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "origin", "external_id"], condition=~Q(external_id=""), name="imported_once"
            )
        ]
        indexes = [
            models.Index(fields=["user", "-last_activity_at"], name="conversation_latest"),
            # Partial, so that the planner uses the first index for a user's own list.
            models.Index(fields=["last_activity_at"], name="conversation_quiet", condition=~Q(status="ended")),
            models.Index(fields=["deleted_at"], name="conversation_deleted", condition=Q(deleted_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.title or str(self.id)


class MessageQuerySet(OwnedQuerySet):
    """Messages by kind."""

    def not_deleted(self) -> Self:
        """Messages of conversations not in the trash."""
        return self.filter(conversation__deleted_at=None)

    def streaming(self) -> Self:
        """Answers that a process is generating, or was when it died."""
        return self.filter(status=Message.Status.STREAMING)


class Message(Owned):
    """One event of a conversation. `turn` counts exchanges along its branch; a retry has the number of its turn."""

    class Role(models.TextChoices):
        USER = "user", "User"
        ASSISTANT = "assistant", "Assistant"
        TOOL = "tool", "Tool"

    class Event(models.TextChoices):
        USER_MESSAGE = "user_message", "User message"
        ASSISTANT_RESPONSE = "assistant_response", "Assistant response"
        TOOL_CALL = "tool_call", "Tool call"
        TOOL_RESULT = "tool_result", "Tool result"
        CONVERSATION_SUMMARY = "conversation_summary", "Conversation summary"

    class Status(models.TextChoices):
        STREAMING = "streaming", "In progress"
        COMPLETE = "complete", "Complete"
        INTERRUPTED = "interrupted", "Interrupted"
        FAILED = "failed", "Failed"

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    seq = models.PositiveIntegerField(help_text="Order of arrival within the conversation")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children")
    turn = models.PositiveIntegerField(help_text="Number of the exchange along this branch, from 1")
    role = models.CharField(max_length=9, choices=Role)
    author = models.CharField(max_length=80, blank=True, help_text="Speaker, if neither user nor model")
    event_type = models.CharField(max_length=20, choices=Event)
    text = models.TextField(blank=True)
    event_data = models.JSONField(default=dict, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="Base count when first counted")
    external_id = models.CharField(max_length=100, blank=True, help_text="Its id where it was imported from")
    client_id = models.UUIDField(null=True, blank=True, help_text="Set by the browser, so that a resend is a no-op")
    status = models.CharField(max_length=11, choices=Status, default=Status.COMPLETE)
    process_key = models.BigIntegerField(null=True, blank=True, help_text="Of the web process that generates it")
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)
    search = models.GeneratedField(
        # a tsvector is limited to 1 MiB, and a paste may be longer than 100,000 characters
        expression=SearchVector(Left("text", 100_000), config="simple"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    objects = MessageQuerySet.as_manager()

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "seq"], name="one_message_a_seq"),
            models.UniqueConstraint(
                fields=["user", "client_id"], condition=Q(client_id__isnull=False), name="sent_once"
            ),
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(status="streaming"), name="one_answer_at_a_time_a_conversation"
            ),
        ]
        indexes = [
            GinIndex(fields=["user", "search"], gin_pending_list_limit=FEW_WAITING, name="message_words"),
            models.Index(fields=["process_key"], name="message_being_written", condition=Q(status="streaming")),
            models.Index(fields=["user"], name="message_withholds", condition=Q(event_data__has_key="withholds")),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.seq} of {self.conversation_id}"


class Attachment(Owned):
    """An image, file or long paste of a message: counted in the budget, never evidence.

    Without a message it is a draft: uploaded, not yet sent, and deleted after a day.
    """

    class Kind(models.TextChoices):
        IMAGE = "image", "Image"
        FILE = "file", "File"
        PASTE = "paste", "Pasted text"

    message = models.ForeignKey(Message, null=True, blank=True, on_delete=models.CASCADE, related_name="attachments")
    number = models.PositiveSmallIntegerField(default=0, help_text="Order within the message, from 1; 0: not sent yet")
    kind = models.CharField(max_length=5, choices=Kind)
    name = models.CharField(max_length=255, help_text="Original file name")
    media_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField(help_text="Bytes as uploaded")
    content = models.BinaryField(help_text="Images as sent to the model; other files as uploaded")
    text = models.TextField(blank=True, help_text="What the model reads of a file or paste")
    width = models.PositiveIntegerField(default=0, help_text="Pixels; 0: not an image")
    height = models.PositiveIntegerField(default=0, help_text="Pixels; 0: not an image")
    tokens = models.PositiveIntegerField(default=0, help_text="Base count")
    content_hash = models.CharField(max_length=64, help_text="SHA-256 of the uploaded bytes")
    created_at = models.DateTimeField(default=timezone.now)

    objects = OwnedManager["Attachment"]()

    class Meta:
        ordering = ["number", "id"]
        indexes = [
            models.Index(fields=["created_at"], name="attachment_unsent", condition=Q(message__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def stored_bytes(self) -> int:
        """What its quota counts (`recall/db/quotas.py`)."""
        return len(self.content) + len(self.text.encode())

    def made_of(self, text: str) -> dict[str, Any]:
        """Fields that change when something in its text is forgotten: the original file is dropped."""
        return {"content": text.encode(), "media_type": "text/plain"}


class Segment(Owned):
    """A range of turns replaced by its summary in prompts. The messages stay, archived."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="segments")
    number = models.PositiveIntegerField(help_text="Order within the conversation, from 1")
    first_turn = models.PositiveIntegerField()
    last_turn = models.PositiveIntegerField()
    before = models.ForeignKey(
        Message,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The message before its first turn",
    )
    last_message = models.ForeignKey(
        Message,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="ended_segments",
        help_text="Its last answer: the segment applies to every branch through this message",
    )
    text = models.TextField(help_text="The summary as the prompt shows it")
    summary = models.JSONField(
        default=dict, blank=True, help_text="Decisions, action items, insights, preferences: lists of sentences"
    )
    topics = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="Base count of the text")
    merged_into = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="merged")
    created_at = models.DateTimeField(default=timezone.now)

    objects = OwnedManager["Segment"]()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "number"], name="one_segment_a_number"),
            models.CheckConstraint(condition=Q(last_turn__gte=models.F("first_turn")), name="segment_turns_in_order"),
        ]

    def __str__(self) -> str:
        return f"segment {self.number} of {self.conversation_id}"

    @property
    def ref(self) -> str:
        """Its reference in prompts and receipts."""
        return f"segment:{self.pk}"


class CompactionQuerySet(OwnedQuerySet):
    """Compactions by state."""

    def open(self) -> Self:
        """Compactions that are pending or running."""
        return self.filter(state__in=[Compaction.State.PENDING, Compaction.State.RUNNING])


class Compaction(Owned):
    """A request to compact the older turns of a conversation (`recall/jobs.py`)."""

    class State(models.TextChoices):
        PENDING = "pending", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="compactions")
    reason = models.CharField(max_length=12, help_text="Name of a trigger: see chat/compaction/triggers.py")
    state = models.CharField(max_length=8, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.UUIDField(null=True, blank=True, help_text="Of the worker that has claimed it")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="When the claim expires")
    not_before = models.DateTimeField(default=timezone.now, help_text="Earliest next attempt")
    error = models.TextField(blank=True)
    engine = models.CharField(max_length=60, blank=True, help_text="Engine of the last summary")
    segments = models.PositiveIntegerField(default=0, help_text="Segments created")
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = CompactionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(state__in=["pending", "running"]),
                name="one_compaction_at_a_time_a_conversation",
            )
        ]
        indexes = [
            models.Index(
                fields=["state", "not_before"], name="compaction_due", condition=Q(state__in=["pending", "running"])
            )
        ]

    def __str__(self) -> str:
        return f"compaction {self.pk}: {self.state}"


class ImportJob(Owned):
    """An import of conversations, or of a whole archive (`recall/jobs.py`)."""

    class State(models.TextChoices):
        WAITING = "waiting", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Canceled"

    name = models.CharField(max_length=255, help_text="Original file name")
    origin = models.CharField(max_length=20, blank=True, help_text="Detected origin, such as chatgpt")
    size = models.PositiveBigIntegerField(help_text="Bytes")
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="Conversations imported")
    total = models.PositiveIntegerField(default=0, help_text="Conversations in the file; 0: not yet known")
    counts = models.JSONField(default=dict, blank=True, help_text="Results: new, known, left out, broken …")
    error = models.TextField(blank=True, help_text="One sentence for the user")
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.UUIDField(null=True, blank=True, help_text="Of the worker that has claimed it")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="When the claim expires")
    not_before = models.DateTimeField(default=timezone.now, help_text="Earliest next attempt")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["ImportJob"]()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["state", "not_before"], name="import_due", condition=Q(state__in=["waiting", "running"])
            )
        ]

    def __str__(self) -> str:
        return f"import {self.pk}: {self.state}"


class ImportPart(Owned):
    """A piece of the file of an import, kept until it is read: no user file is written to disk."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField(help_text="Order within the file, from 0")
    content = models.BinaryField()

    objects = OwnedManager["ImportPart"]()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="one_import_part_a_number")]

    def __str__(self) -> str:
        return f"part {self.number} of import {self.job_id}"
