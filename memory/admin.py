"""Memory in the admin: view everything, decide on proposals, retry failed librarian runs and uploads.

Rows with a history are changed only where that history is recorded: facts by review, documents on their own pages.
"""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

from django.contrib import admin, messages
from django.contrib.postgres.search import SearchQuery
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path

from accounts.models import User
from accounts.staff.logged_admin import LoggedAdmin, RecordAdmin
from memory.documents.uploads import retry_upload
from memory.librarian import run as librarian
from memory.models import (
    Boundary,
    Chunk,
    Consolidation,
    DeletedDocument,
    Document,
    Episode,
    Fact,
    FactLink,
    Forgetting,
    KindPolicy,
    LibrarianRun,
    PersonalIndex,
    ReviewAction,
    Revision,
    Upload,
)
from memory.review import decisions
from memory.views.staff_review import staff_decide, staff_queue


@admin.register(Fact)
class FactAdmin(LoggedAdmin):
    """Facts of all users, and the review queue."""

    list_display = ("statement", "user", "kind", "status", "importance", "recorded_at")
    list_filter = ("status", "kind", "source", "recorded_at")
    search_help_text = "Words of the statement, a number, or the start of a user's email address"
    actions = ("accept_proposals", "reject_facts")
    heavy = ("vector", "search")
    editable = ("importance", "tags", "valid_from", "valid_until")
    """Columns without a history of their own; the others are decided by review."""

    def get_urls(self) -> list[Any]:
        """Adds the review queue of all users to the list."""
        queue_urls = [
            path("queue/", self.admin_site.admin_view(self.queue_view), name="memory_fact_queue"),
            path("queue/decide/", self.admin_site.admin_view(staff_decide), name="memory_fact_queue_decide"),
        ]
        return [*queue_urls, *super().get_urls()]

    def queue_view(self, request: HttpRequest) -> HttpResponse:
        """Waiting proposals of all users (`memory/views/staff_review.py`)."""
        return staff_queue(request, **self.admin_site.each_context(request))

    def get_readonly_fields(self, request: HttpRequest, obj: Fact | None = None) -> list[str]:
        """All columns except the few that may be edited by hand."""
        hidden = (*self.heavy, *self.editable)
        return [column.name for column in Fact._meta.fields if column.name not in hidden]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never: a fact isn't created by hand, because each has evidence."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Fact | None = None) -> bool:
        """Never: only its owner may forget it, which also removes it from summaries and receipts."""
        return False

    def search_condition(self, term: str) -> Q:
        """Search by id or owner, or by words in each language in use: one index serves all users' facts."""
        languages = User.objects.order_by().values_list("language", flat=True).distinct()
        ways = (Q(search=SearchQuery(term, config=language, search_type="websearch")) for language in languages)
        return reduce(or_, ways, super().search_condition(term))

    @admin.action(description="Accept the selected proposals", permissions=["change"])
    def accept_proposals(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        """Accept each by its own decision, which its owner may undo."""
        self._decide(request, queryset, decisions.accept, "accepted")

    @admin.action(description="Reject the selected proposals and facts", permissions=["change"])
    def reject_facts(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        """Reject each by its own decision, which its owner may undo."""
        self._decide(request, queryset, decisions.reject, "rejected")

    def _decide(
        self, request: HttpRequest, facts: QuerySet[Fact], decide: Callable[..., ReviewAction], done: str
    ) -> None:
        assert isinstance(request.user, User)
        decided = 0
        for fact in facts.order_by("pk"):
            try:
                decide(fact, by=request.user)
            except decisions.RefusedError as refusal:
                self.message_user(request, f"Fact {fact.pk}: {refusal}", messages.WARNING)
            else:
                decided += 1
        if decided:
            self.message_user(request, f"{decided} {done}.", messages.SUCCESS)


class RevisionInline(admin.TabularInline[Revision, Document]):
    """The versions of a document."""

    model = Revision
    fields = ("number", "author", "note", "created_at", "text")
    readonly_fields = fields
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never: saving the document adds a version."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never: a version is history."""
        return False


@admin.register(Document)
class DocumentAdmin(RecordAdmin):
    """Documents with their history."""

    list_display = ("path", "user", "title", "source", "importance", "changed_at")
    list_filter = ("source", "changed_at")
    inlines = (RevisionInline,)


@admin.register(Revision)
class RevisionAdmin(RecordAdmin):
    """Every version of every document."""

    list_display = ("document", "number", "user", "author", "note", "created_at")
    list_filter = ("author", "created_at")
    found_by = ("pk", "document")
    list_select_related = ("user", "document")


@admin.register(Boundary)
class BoundaryAdmin(LoggedAdmin):
    """Rules that are in every prompt. Staff write those without a user, which apply to everyone; users write
    their own."""

    list_display = ("text", "user", "active", "created_at")
    list_filter = ("active", ("user", admin.EmptyFieldListFilter))
    fields = ("text", "active", "user", "created_at")
    readonly_fields = ("user", "created_at")

    def has_change_permission(self, request: HttpRequest, obj: Boundary | None = None) -> bool:
        """Staff may only change rules for everyone."""
        return super().has_change_permission(request, obj) and (obj is None or obj.user_id is None)

    def has_delete_permission(self, request: HttpRequest, obj: Boundary | None = None) -> bool:
        """Staff may only delete rules for everyone, one at a time, so that each deletion is confirmed."""
        return super().has_delete_permission(request, obj) and obj is not None and obj.user_id is None


@admin.register(LibrarianRun)
class LibrarianRunAdmin(RecordAdmin):
    """What each librarian run read, and the facts it stored."""

    list_display = ("id", "user", "trigger", "state", "came_of_it", "created_at", "error")
    list_filter = ("state", "created_at")
    found_by = ("pk", "conversation")
    actions = ("retry",)
    exclude = ("conversation", "claim")  # the conversation's title would be shown; the row has its number
    readonly_fields = ("conversation_id",)

    @admin.display(description="Came of it")
    def came_of_it(self, run: LibrarianRun) -> str:
        """The numbers of the stored facts."""
        return f"{run.learned} learned, {run.waiting} waiting"

    @admin.action(description="Read again what failed", permissions=["action"])
    def retry(self, request: HttpRequest, queryset: QuerySet[LibrarianRun]) -> None:
        """Restart the failed ones among the selected runs."""
        self.restart(request, queryset, librarian.RUNS.retry_failed, "; {} had not failed.")


@admin.register(Upload)
class UploadAdmin(RecordAdmin):
    """Files that are becoming documents, and their errors. Their content isn't shown."""

    list_display = ("id", "user", "name", "size", "state", "created_at", "error")
    list_filter = ("state", "created_at")
    actions = ("retry",)
    heavy = ("content",)
    personal = ("name", "folder", "document")

    @admin.action(description="Read again what failed", permissions=["action"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Upload]) -> None:
        """Restart the failed ones among the selected uploads."""
        self.restart(request, queryset, retry_upload, "; {} had not failed.")


@admin.register(Episode)
class EpisodeAdmin(RecordAdmin):
    list_display = ("title", "user", "kind", "status", "significance", "happened_at")
    list_filter = ("status", "kind")
    found_by = ("pk", "conversation")
    heavy = ("vector", "search")
    exclude = ("facts",)


@admin.register(Consolidation)
class ConsolidationAdmin(RecordAdmin):
    list_display = ("id", "user", "how", "state", "attempts", "figures", "created_at", "finished_at")
    list_filter = ("state", "how", "created_at")


@admin.register(Forgetting)
class ForgettingAdmin(RecordAdmin):
    """Receipts of forgetting: numbers, never the content."""

    list_display = ("created_at", "user", "what", "restored", "found_again", "checked_at")
    list_filter = ("what", "created_at")


@admin.register(ReviewAction)
class ReviewActionAdmin(RecordAdmin):
    """Who decided what about which fact."""

    list_display = ("fact", "verb", "user", "by", "created_at", "undone_at")
    list_filter = ("verb", "created_at", ("undone_at", admin.EmptyFieldListFilter))
    found_by = ("pk", "fact")
    list_select_related = ("user", "by", "fact")
    actions = ("undo",)

    @admin.action(description="Undo the selected decisions", permissions=["action"])
    def undo(self, request: HttpRequest, queryset: QuerySet[ReviewAction]) -> None:
        """Undo the latest first: a later decision must be undone before an earlier one."""
        undone = 0
        for action in queryset.order_by("-pk"):
            try:
                decisions.undo(action)
            except decisions.RefusedError as refusal:
                self.message_user(request, f"Fact {action.fact_id}: {refusal}", messages.WARNING)
            else:
                undone += 1
        if undone:
            self.message_user(request, f"{undone} undone.", messages.SUCCESS)


@admin.register(FactLink)
class FactLinkAdmin(RecordAdmin):
    list_display = ("from_fact", "relation", "to_fact", "strength", "user", "created_at")
    list_filter = ("relation",)
    found_by = ("pk", "from_fact", "to_fact")
    list_select_related = ("user", "from_fact", "to_fact")

    def get_queryset(self, request: HttpRequest) -> Any:
        """Leaves out the vectors."""
        heavy = (f"{end}__{column}" for end in ("from_fact", "to_fact") for column in ("vector", "search"))
        return super().get_queryset(request).select_related("from_fact", "to_fact").defer(*heavy)


@admin.register(KindPolicy)
class KindPolicyAdmin(RecordAdmin):
    """What users let the librarian do with a kind of fact; without a row, the default applies."""

    list_display = ("subject", "rule", "user", "changed_at")
    list_filter = ("rule",)


@admin.register(Chunk)
class ChunkAdmin(RecordAdmin):
    """Passages that make documents, messages and summaries searchable."""

    list_display = ("id", "user", "kind", "number", "own_words", "tokens", "embedded_by", "said_at")
    list_filter = ("kind",)
    found_by = ("pk", "document", "message", "segment", "conversation")
    heavy = ("vector", "search")


@admin.register(PersonalIndex)
class PersonalIndexAdmin(RecordAdmin):
    """Collections whose size was checked; large ones have their own indexes."""

    list_display = ("user", "rows", "models_indexed", "built_at")
    personal = ("common_words",)


@admin.register(DeletedDocument)
class DeletedDocumentAdmin(RecordAdmin):
    """Deleted documents that can still be restored, by path; their text isn't shown."""

    list_display = ("path", "user", "deleted_at")
    list_filter = ("deleted_at",)
    heavy = ("rows", "decisions")
