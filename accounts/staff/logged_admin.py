"""Admin base classes that log access to other users' rows: list, row, history and deletion pages.

Every admin of user-owned rows inherits from them; a test checks all registered admins.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import User
from accounts.staff.access_log import log_access, log_accesses
from accounts.staff.large_tables import LargeTableAdmin


class LoggedAdmin(LargeTableAdmin):
    """The admin of user-owned rows: every view of another user's row is logged for its owner.

    Rows have a `user`; if it is empty, they have no owner.
    """

    list_select_related: ClassVar[Any] = ("user",)
    heavy: Sequence[str] = ()
    """Large columns, which no page shows or loads."""

    def get_queryset(self, request: HttpRequest) -> Any:
        """Leaves out the large columns."""
        return super().get_queryset(request).defer(*self.heavy)

    def get_exclude(self, request: HttpRequest, obj: Any = None) -> Any:
        """The large columns, too."""
        return (*(super().get_exclude(request, obj) or ()), *self.heavy)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """The list, which is also the confirmation page of a bulk deletion."""
        return self._log_view(request, super().changelist_view(request, extra_context))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """The page of one row."""
        return self._log_view(request, super().changeform_view(request, object_id, form_url, extra_context))

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        """The page that confirms a deletion."""
        return self._log_view(request, super().delete_view(request, object_id, extra_context))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        """One row's admin history."""
        return self._log_view(request, super().history_view(request, object_id, extra_context))

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        """Only for the list: autocomplete would show texts without logging."""
        if request.resolver_match is not None and request.resolver_match.url_name == "autocomplete":
            raise PermissionDenied
        return super().get_search_results(request, queryset, search_term)

    def response_change(self, request: HttpRequest, obj: Any) -> Any:
        """The confirmation, which is kept in a session and shown on any page, names the row by its id."""
        return super().response_change(request, _Numbered(obj))

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Log as Django does, but with the id instead of the row's text."""
        return _without_text(super().log_change(request, obj, message), self.opts.verbose_name)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Log a new row by its id."""
        return _without_text(super().log_addition(request, obj, message), self.opts.verbose_name)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Log deleted rows by their ids."""
        entries = super().log_deletions(request, queryset)
        return [_without_text(entry, self.opts.verbose_name) for entry in entries]

    def _log_view(self, request: HttpRequest, response: Any) -> Any:
        context = getattr(response, "context_data", None) or {}
        assert isinstance(request.user, User)
        row = context.get("original") or context.get("object")
        if row is not None:
            log_access(request.user, row.user_id, f"{self.opts.verbose_name} {row.pk}")
            return response
        rows = context["cl"].result_list if "cl" in context else context.get("queryset", ())
        log_accesses(request.user, (row.user_id for row in rows), f"a list of {self.opts.verbose_name_plural}")
        return response


class ReadOnlyAdmin(ModelAdmin[Any]):
    """Records that the app creates: no one edits them, and deleting one here would leave its traces elsewhere."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class RecordAdmin(LoggedAdmin, ReadOnlyAdmin):
    """Read-only records of a user; only forgetting removes them.

    Operators keep jobs running and don't need their content: columns in `personal` are shown only to those who may see
    messages.
    """

    personal: Sequence[str] = ()
    """Columns that may hold a user's text."""
    MAY_READ = "chat.view_message"

    def has_action_permission(self, request: HttpRequest) -> bool:
        """Actions need the right to change."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def get_list_display(self, request: HttpRequest) -> Any:
        """The columns this staff user may see."""
        return self._without_personal(request, super().get_list_display(request))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The fields of one row that this staff user may see."""
        return self._without_personal(request, super().get_fields(request, obj))

    def restart(self, request: HttpRequest, rows: QuerySet[Any], start: Callable[[Any], bool], others: str) -> None:
        """Call `start` with each row, log those it restarted, and say how many; `others`: of the rest, `{}` of them."""
        every = list(rows)
        started = [row for row in every if start(row)]
        for row in started:
            self.log_change(request, row, "Restarted.")
        said = f"{len(started)} started again{others.format(len(every) - len(started))}"
        self.message_user(request, said, messages.INFO)

    def _without_personal(self, request: HttpRequest, names: Iterable[Any]) -> list[Any]:
        may_read = not self.personal or request.user.has_perm(self.MAY_READ)
        return [name for name in names if may_read or name not in self.personal]


class _Numbered:
    """A row whose text is its id."""

    def __init__(self, row: Any) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)

    def __str__(self) -> str:
        return str(self._row.pk)


def _without_text(entry: Any, name: Any) -> Any:
    entry.object_repr = f"{name} {entry.object_id}"
    entry.save(update_fields=["object_repr"])
    return entry
