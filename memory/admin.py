"""Memory in the admin: everything to look at, proposals to decide on, failed librarian runs to retry.

What has a history is changed only where that history is kept: facts by review, documents on the profile page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import User
from memory import librarian, review
from memory.models import Boundary, Document, Fact, LibrarianRun, ReviewAction, Revision


class RecordAdmin(admin.ModelAdmin[Any]):
    """Rows that record what happened: to be read, not written."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """They are made where they happen."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They say what was."""
        return False

    def has_action_permission(self, request: HttpRequest) -> bool:
        """Actions change what a record is about, so they need the right to change."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")


@admin.register(Fact)
class FactAdmin(admin.ModelAdmin[Fact]):
    """Facts of all users, and the review queue."""

    list_display = ("statement", "user", "kind", "key", "status", "confidence", "importance", "reason", "recorded_at")
    list_filter = ("status", "kind", "source", "extracted_by", "recorded_at")
    search_fields = ("statement", "quote", "key", "user__email", "=id")
    list_select_related = ("user",)
    date_hierarchy = "recorded_at"
    ordering = ("-recorded_at",)
    show_full_result_count = False
    actions = ("accept_proposals", "reject_facts")
    exclude = ("vector", "search")
    editable = ("importance", "tags", "valid_from", "valid_until")
    """What carries no history of its own; the rest is decided by review."""

    def get_readonly_fields(self, request: HttpRequest, obj: Fact | None = None) -> list[str]:
        """All but the few columns that may be set by hand."""
        hidden = (*self.exclude, *self.editable)
        return [column.name for column in Fact._meta.fields if column.name not in hidden]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Fact]:
        """Without the vectors, which nobody reads."""
        return super().get_queryset(request).defer("vector", "search")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A fact rests on words somebody wrote."""
        return False

    @admin.action(description="Accept the selected proposals", permissions=["change"])
    def accept_proposals(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        """Each by a decision of its own, which its owner may undo."""
        self._decide(request, queryset, review.accept, "accepted")

    @admin.action(description="Reject the selected proposals and facts", permissions=["change"])
    def reject_facts(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        """Each by a decision of its own, which its owner may undo."""
        self._decide(request, queryset, review.reject, "rejected")

    def _decide(
        self, request: HttpRequest, facts: QuerySet[Fact], decide: Callable[..., ReviewAction], done: str
    ) -> None:
        assert isinstance(request.user, User)
        decided = 0
        for fact in facts.order_by("pk"):
            try:
                decide(fact, by=request.user)
            except review.RefusedError as refusal:
                self.message_user(request, f"“{fact}”: {refusal}", messages.WARNING)
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
        """A version is made by saving the document."""
        return False


@admin.register(Document)
class DocumentAdmin(RecordAdmin):
    """Documents with their history."""

    list_display = ("path", "user", "title", "source", "importance", "changed_at")
    list_filter = ("source", "changed_at")
    search_fields = ("title", "text", "user__email")
    list_select_related = ("user",)
    ordering = ("user", "path")
    inlines = (RevisionInline,)


@admin.register(Revision)
class RevisionAdmin(RecordAdmin):
    """Every version of every document."""

    list_display = ("document", "number", "user", "author", "note", "created_at")
    list_filter = ("author", "created_at")
    search_fields = ("document__title", "note", "user__email")
    list_select_related = ("user", "document")


@admin.register(Boundary)
class BoundaryAdmin(admin.ModelAdmin[Boundary]):
    """Rules that are in every prompt; those without a user hold for everybody."""

    list_display = ("text", "user", "active", "created_at")
    list_filter = ("active", ("user", admin.EmptyFieldListFilter))
    search_fields = ("text", "user__email")
    list_select_related = ("user",)
    raw_id_fields = ("user",)


@admin.register(LibrarianRun)
class LibrarianRunAdmin(RecordAdmin):
    """What the librarian read, and what came of it."""

    list_display = (
        "id",
        "user",
        "conversation",
        "trigger",
        "state",
        "attempts",
        "learned",
        "waiting",
        "engine",
        "created_at",
        "finished_at",
        "error",
    )
    list_filter = ("state", "trigger", "engine", "created_at")
    search_fields = ("=id", "=conversation__id", "user__email", "error")
    list_select_related = ("user", "conversation")
    date_hierarchy = "created_at"
    ordering = ("-created_at",)
    actions = ("retry",)

    @admin.action(description="Read again what failed", permissions=["action"])
    def retry(self, request: HttpRequest, queryset: QuerySet[LibrarianRun]) -> None:
        """Start the failed ones of the selected runs afresh."""
        started = sum(librarian.retry(run) for run in queryset)
        left = queryset.count() - started
        self.message_user(request, f"{started} started again; {left} had not failed.", messages.INFO)


@admin.register(ReviewAction)
class ReviewActionAdmin(RecordAdmin):
    """Who decided what about which fact."""

    list_display = ("fact", "verb", "user", "by", "created_at", "undone_at")
    list_filter = ("verb", "created_at", ("undone_at", admin.EmptyFieldListFilter))
    search_fields = ("fact__statement", "user__email", "by__email")
    list_select_related = ("user", "by", "fact")
    date_hierarchy = "created_at"
    ordering = ("-created_at",)
    actions = ("undo",)

    @admin.action(description="Undo the selected decisions", permissions=["action"])
    def undo(self, request: HttpRequest, queryset: QuerySet[ReviewAction]) -> None:
        """The latest first, as a later decision must be undone before an earlier one."""
        undone = 0
        for action in queryset.order_by("-pk"):
            try:
                review.undo(action)
            except review.RefusedError as refusal:
                self.message_user(request, f"“{action.fact}”: {refusal}", messages.WARNING)
            else:
                undone += 1
        if undone:
            self.message_user(request, f"{undone} undone.", messages.SUCCESS)
