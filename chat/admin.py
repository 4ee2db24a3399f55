"""Conversations in the admin: to look at, never to write. Jobs that failed, or wait, are started again from here.

What is said is an append-only log, and prompts share their bytes because it stays as it is. What removes it is the
person's own deleting and forgetting, which also takes it out of summaries, receipts and the index.
"""

from __future__ import annotations

from typing import Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.db.models.expressions import Combinable
from django.http import HttpRequest

from accounts.staff.logged_admin import RecordAdmin
from chat.compaction import jobs as compaction
from chat.importing import jobs
from chat.models import Attachment, Compaction, Conversation, ImportJob, ImportPart, Message, Project, Role, Segment

QUERY: Final = "q"
"""What the list's address calls its search."""


@admin.register(Conversation)
class ConversationAdmin(RecordAdmin):
    """Whose conversation, and in which state."""

    list_display = ("__str__", "user", "status", "origin", "started_at", "last_activity_at", "deleted_at")
    list_filter = ("status",)
    list_select_related = ("user",)
    search_help_text = "A conversation's id, or the beginning of a person's e-mail address"

    def get_ordering(self, request: HttpRequest) -> list[str | Combinable]:
        """A person's by time. Of all people's there is no index by time, and their ids are random."""
        return ["-last_activity_at"] if request.GET.get(QUERY) else ["pk"]


@admin.register(Message)
class MessageAdmin(RecordAdmin):
    """The event log."""

    list_display = ("id", "conversation", "user", "turn", "event_type", "status", "created_at")
    list_filter = ("event_type", "status")
    found_by = ("pk", "conversation")
    list_select_related = ("conversation", "user")
    exclude = ("search",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Without the index of words."""
        return super().get_queryset(request).defer("search")


@admin.register(Attachment)
class AttachmentAdmin(RecordAdmin):
    """What came with a message: its name, kind and size; what is in it is shown in its conversation, to its owner."""

    list_display = ("id", "user", "name", "kind", "media_type", "size", "tokens", "created_at")
    list_filter = ("kind",)
    list_select_related = ("user",)
    exclude = ("content", "text")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attachment]:
        """Without the bytes."""
        return super().get_queryset(request).defer("content", "text")


@admin.register(Segment)
class SegmentAdmin(RecordAdmin):
    """Which turns were folded into which summary."""

    list_display = ("id", "conversation", "user", "number", "first_turn", "last_turn", "tokens", "created_at")
    found_by = ("pk", "conversation")
    list_select_related = ("conversation", "user")


@admin.register(Compaction)
class CompactionAdmin(RecordAdmin):
    """Why older turns were folded, by which engine, and what went wrong."""

    list_display = ("id", "user", "reason", "state", "attempts", "created_at", "error")
    list_filter = ("state", "created_at")
    found_by = ("pk", "conversation")
    list_select_related = ("user",)
    actions = ("retry",)
    exclude = ("conversation", "claim")  # its title would be shown; the row has its number
    readonly_fields = ("conversation_id",)

    @admin.action(description="Try again what failed", permissions=["action"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Compaction]) -> None:
        """Start the failed ones of the selected compactions afresh."""
        rows = list(queryset)
        started = self.started(request, rows, compaction.retry)
        told = f"{started} started again; {len(rows) - started} had not failed, or another one is under way there."
        self.message_user(request, told, messages.INFO)


@admin.register(ImportJob)
class ImportJobAdmin(RecordAdmin):
    """Files of conversations on their way in. The file itself goes as soon as its import ends, however that is."""

    list_display = ("id", "user", "name", "origin", "state", "so_far", "created_at", "error")
    list_filter = ("state", "created_at")
    list_select_related = ("user",)
    actions = ("retry", "stop")
    exclude = ("claim",)
    personal = ("name", "counts")

    @admin.display(description="Conversations")
    def so_far(self, job: ImportJob) -> str:
        """How far it is."""
        return f"{job.done:,} of {job.total:,}"

    @admin.action(description="Go on now with what waits", permissions=["action"])
    def retry(self, request: HttpRequest, queryset: QuerySet[ImportJob]) -> None:
        """Without waiting for the clock. One that failed has no file any more: its owner brings it again."""
        rows = list(queryset)
        started = self.started(request, rows, jobs.resume_now)
        told = f"{started} started again; {len(rows) - started} had ended: their owner has to bring the file again."
        self.message_user(request, told, messages.INFO)

    @admin.action(description="Stop", permissions=["action"])
    def stop(self, request: HttpRequest, queryset: QuerySet[ImportJob]) -> None:
        """What came in stays."""
        stopped = sum(jobs.cancel(job) for job in queryset)
        self.message_user(request, f"{stopped} stopped.", messages.INFO)


@admin.register(ImportPart)
class ImportPartAdmin(RecordAdmin):
    """Pieces of a file that is being read. What is in them is shown nowhere; they go with the end of the import."""

    list_display = ("id", "user", "job_id", "number")
    found_by = ("pk", "job")
    list_select_related = ("user",)
    exclude = ("content", "job")  # its name is a person's own; the row has its number
    readonly_fields = ("job_id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportPart]:
        """Without the bytes."""
        return super().get_queryset(request).defer("content")


@admin.register(Role)
class RoleAdmin(RecordAdmin):
    """Roles people wrote."""

    list_display = ("name", "user", "version", "created_at")
    list_select_related = ("user",)


@admin.register(Project)
class ProjectAdmin(RecordAdmin):
    """Projects of people: folders with instructions."""

    list_display = ("name", "user", "path", "only_project", "created_at", "archived_at")
    list_select_related = ("user",)
