"""Chat in the admin: read-only, except that jobs can be retried, resumed and stopped.

Messages are an append-only log on which cached prompts depend. Only their owner deletes or forgets them, which also
updates summaries, receipts and the index.
"""

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
"""Search parameter of the list."""


@admin.register(Conversation)
class ConversationAdmin(RecordAdmin):
    """Conversations and their state."""

    list_display = ("__str__", "user", "status", "origin", "started_at", "last_activity_at", "deleted_at")
    list_filter = ("status",)
    search_help_text = "Conversation id or start of an email address"

    def get_ordering(self, request: HttpRequest) -> list[str | Combinable]:
        """One user's conversations by time. For all users there is no index by time, and ids are random."""
        return ["-last_activity_at"] if request.GET.get(QUERY) else ["pk"]


@admin.register(Message)
class MessageAdmin(RecordAdmin):
    """Messages: the event log."""

    list_display = ("id", "conversation", "user", "turn", "event_type", "status", "created_at")
    list_filter = ("event_type", "status")
    found_by = ("pk", "conversation")
    list_select_related = ("conversation", "user")
    heavy = ("search",)


@admin.register(Attachment)
class AttachmentAdmin(RecordAdmin):
    """Attachments: name, kind and size. Contents are shown to their owner only."""

    list_display = ("id", "user", "name", "kind", "media_type", "size", "tokens", "created_at")
    list_filter = ("kind",)
    heavy = ("content", "text")


@admin.register(Segment)
class SegmentAdmin(RecordAdmin):
    """Compacted ranges of turns."""

    list_display = ("id", "conversation", "user", "number", "first_turn", "last_turn", "tokens", "created_at")
    found_by = ("pk", "conversation")
    list_select_related = ("conversation", "user")


@admin.register(Compaction)
class CompactionAdmin(RecordAdmin):
    """Compactions: reason, engine and error."""

    list_display = ("id", "user", "reason", "state", "attempts", "created_at", "error")
    list_filter = ("state", "created_at")
    found_by = ("pk", "conversation")
    actions = ("retry",)
    exclude = ("conversation", "claim")  # the conversation's title would be shown; the row has the id
    readonly_fields = ("conversation_id",)

    @admin.action(description="Retry failed", permissions=["action"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Compaction]) -> None:
        """Restart the failed ones among the selected compactions."""
        self.restart(request, queryset, compaction.retry, ". The other {} had not failed, or another one is running.")


@admin.register(ImportJob)
class ImportJobAdmin(RecordAdmin):
    """Imports. The file is deleted when its import ends."""

    list_display = ("id", "user", "name", "origin", "state", "so_far", "created_at", "error")
    list_filter = ("state", "created_at")
    actions = ("retry", "stop")
    exclude = ("claim",)
    personal = ("name", "counts")

    @admin.display(description="Conversations")
    def so_far(self, job: ImportJob) -> str:
        """Imported and total conversations."""
        return f"{job.done:,} of {job.total:,}"

    @admin.action(description="Resume now", permissions=["action"])
    def retry(self, request: HttpRequest, queryset: QuerySet[ImportJob]) -> None:
        """Continue without waiting for the scheduler. A failed import no longer has its file."""
        others = ". The others had ended; their owner has to upload the file again."
        self.restart(request, queryset, jobs.resume_now, others)

    @admin.action(description="Stop", permissions=["action"])
    def stop(self, request: HttpRequest, queryset: QuerySet[ImportJob]) -> None:
        """Stop the imports and keep what was imported."""
        stopped = sum(jobs.cancel(job) for job in queryset)
        self.message_user(request, f"{stopped} stopped.", messages.INFO)


@admin.register(ImportPart)
class ImportPartAdmin(RecordAdmin):
    """Pieces of files being imported. Their contents are shown nowhere."""

    list_display = ("id", "user", "job_id", "number")
    found_by = ("pk", "job")
    heavy = ("content",)
    exclude = ("job",)  # the file name would be shown; the row has the id
    readonly_fields = ("job_id",)


@admin.register(Role)
class RoleAdmin(RecordAdmin):
    list_display = ("name", "user", "version", "created_at")


@admin.register(Project)
class ProjectAdmin(RecordAdmin):
    list_display = ("name", "user", "path", "only_project", "created_at", "archived_at")
