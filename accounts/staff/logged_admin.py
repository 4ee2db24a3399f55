"""Which pages of the admin count as looks at another's? Those of a class below: list, row, history and deletion.

Every admin of rows that belong to people inherits it; a test walks the registered ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from accounts.models import User
from accounts.staff.access_log import log_access, note_all
from accounts.staff.large_tables import LargeTableAdmin


class LoggedAdmin(LargeTableAdmin):
    """The admin of rows that belong to people: every look at another's is a line in their access log.

    The rows have a `user`; where that is empty, they belong to nobody.
    """

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """The list, also as the page that asks before many are deleted."""
        return self._noted(request, super().changelist_view(request, extra_context))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """One row."""
        return self._noted(request, super().changeform_view(request, object_id, form_url, extra_context))

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        """The page that asks before one is deleted."""
        return self._noted(request, super().delete_view(request, object_id, extra_context))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        """What was done to one row in the admin."""
        return self._noted(request, super().history_view(request, object_id, extra_context))

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        """For the list; not for suggestions while typing, which would show texts on no page of their own."""
        if request.resolver_match is not None and request.resolver_match.url_name == "autocomplete":
            raise PermissionDenied
        return super().get_search_results(request, queryset, search_term)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """As Django does, but by number: Django's log must keep no text of a person's."""
        return _without_text(super().log_change(request, obj, message), self.opts.verbose_name)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """The same for a new row."""
        return _without_text(super().log_addition(request, obj, message), self.opts.verbose_name)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """The same for rows that go."""
        entries = super().log_deletions(request, queryset)
        return [_without_text(entry, self.opts.verbose_name) for entry in entries]

    def _noted(self, request: HttpRequest, response: Any) -> Any:
        context = getattr(response, "context_data", None) or {}
        assert isinstance(request.user, User)
        one = context.get("original") or context.get("object")
        if one is not None:
            log_access(request.user, one.user_id, f"{self.opts.verbose_name} {one.pk}")
            return response
        rows = context["cl"].result_list if "cl" in context else context.get("queryset", ())
        note_all(request.user, (row.user_id for row in rows), f"a list of {self.opts.verbose_name_plural}")
        return response


class RecordAdmin(LoggedAdmin):
    """Rows that record what happened: to be read, not written. What removes them is Recall's own forgetting.

    An operator keeps jobs running, and has no need of what they are about: columns in `personal` are shown only to
    those who may see messages.
    """

    personal: Sequence[str] = ()
    """Columns that hold, or may hold, a person's own words."""
    MAY_READ = "chat.view_message"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """They are made where they happen."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They say what was."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Deleted here, they would leave traces where they stand in summaries, receipts and the index."""
        return False

    def has_action_permission(self, request: HttpRequest) -> bool:
        """Actions change what a record is about, so they need the right to change."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def get_list_display(self, request: HttpRequest) -> Any:
        """The columns that this reader may see."""
        return self._without_personal(request, super().get_list_display(request))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The same for one row."""
        return self._without_personal(request, super().get_fields(request, obj))

    def started(self, request: HttpRequest, rows: Iterable[Any], start: Callable[[Any], bool]) -> int:
        """Call `start` with each row, and log those it was done with; how many they were."""
        done = [row for row in rows if start(row)]
        for row in done:
            self.log_change(request, row, "Started again.")
        return len(done)

    def _without_personal(self, request: HttpRequest, names: Iterable[Any]) -> list[Any]:
        may_read = not self.personal or request.user.has_perm(self.MAY_READ)
        return [name for name in names if may_read or name not in self.personal]


def _without_text(entry: Any, name: Any) -> Any:
    entry.object_repr = f"{name} {entry.object_id}"
    entry.save(update_fields=["object_repr"])
    return entry
