"""Conversations and their messages: an append-only event log that may branch."""

from __future__ import annotations

import uuid
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Left
from django.utils import timezone

from recall.ownership import Owned, OwnedManager, OwnedQuerySet


class Role(Owned):
    """Instructions a person wrote for a kind of conversation, such as “patient Portuguese teacher”."""

    name = models.CharField(max_length=80)
    instructions = models.TextField()
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedManager["Role"]()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_role_a_name")]

    def __str__(self) -> str:
        return self.name


class ConversationQuerySet(OwnedQuerySet):
    """Conversations by their state."""

    def latest_first(self) -> Self:
        """In the order of the list beside the chat."""
        return self.order_by("-last_activity_at")


class Conversation(Owned):
    """One thread of talk. `active_leaf` says which branch of its messages is the one being followed."""

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
    scope = models.CharField(max_length=500, blank=True, help_text="A /projects/… path, or empty")
    started_at = models.DateTimeField(default=timezone.now)
    last_activity_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    active_leaf = models.ForeignKey("Message", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    next_seq = models.PositiveIntegerField(default=1, help_text="Number of the next message")
    cut_from = models.PositiveIntegerField(default=0, help_text="First turn behind the placeholder; 0: nothing is cut")
    cut_until = models.PositiveIntegerField(default=0, help_text="Last turn behind the placeholder")
    librarian_watermark = models.PositiveIntegerField(default=0, help_text="Last message a librarian run covers")

    objects = ConversationQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["user", "-last_activity_at"], name="conversation_latest")]

    def __str__(self) -> str:
        return self.title or str(self.id)


class MessageQuerySet(OwnedQuerySet):
    """Messages by what they are."""

    def streaming(self) -> Self:
        """Answers that some process is writing now, or was when it died."""
        return self.filter(status=Message.Status.STREAMING)


class Message(Owned):
    """One event of a conversation. `turn` counts exchanges along its branch; a retry shares its turn's number."""

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
        STREAMING = "streaming", "Being written"
        COMPLETE = "complete", "Complete"
        INTERRUPTED = "interrupted", "Interrupted"
        FAILED = "failed", "Failed"

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    seq = models.PositiveIntegerField(help_text="Order of arrival within the conversation")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children")
    turn = models.PositiveIntegerField(help_text="Number of the exchange along this branch, from 1")
    role = models.CharField(max_length=9, choices=Role)
    author = models.CharField(max_length=80, blank=True, help_text="Who speaks, where it is neither user nor model")
    event_type = models.CharField(max_length=20, choices=Event)
    text = models.TextField(blank=True)
    event_data = models.JSONField(default=dict, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="Base count when it was first counted")
    client_id = models.UUIDField(null=True, blank=True, help_text="Given by the browser: a resend is a no-op")
    status = models.CharField(max_length=11, choices=Status, default=Status.COMPLETE)
    process_key = models.BigIntegerField(null=True, blank=True, help_text="Of the web process that writes it")
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)
    search = models.GeneratedField(
        # 100,000 characters: a tsvector is limited to 1 MiB, and a paste may be longer
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
            GinIndex(fields=["user", "search"], name="message_words"),
            models.Index(fields=["process_key"], name="message_being_written", condition=Q(status="streaming")),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.seq} of {self.conversation_id}"


class Segment(Owned):
    """A run of turns that stands in the prompt as its summary. The messages themselves stay, archived."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="segments")
    number = models.PositiveIntegerField(help_text="Order within the conversation, from 1")
    first_turn = models.PositiveIntegerField()
    last_turn = models.PositiveIntegerField()
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
