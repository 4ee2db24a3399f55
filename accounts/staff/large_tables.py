"""Admin lists that stay fast with a million rows: no query may grow with the table.

order     by id, newest first, by the primary key's index. Columns can't be sorted.
count     at most COUNTED_TO rows are counted; beyond that PostgreSQL's estimate is shown
search    by id, or by owner (the start of an email address): both have an index
filters   without an owner only among the newest FILTERED_AMONG rows: a filter that few rows match, such as
          “failed”, would read the whole table. Only filters that the list offers: a URL could otherwise probe
          any column, hidden ones too
"""

from collections.abc import Sequence
from typing import Any, Final

from django.contrib.admin import ModelAdmin, ShowFacets
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import connection, models
from django.db.models import Q
from django.http import HttpRequest
from django.utils.functional import cached_property

from accounts.models import User

COUNTED_TO: Final = 10_000
"""Rows that are counted and paged."""
FILTERED_AMONG: Final = 50_000
"""Ids below the newest that filters look at without an owner: read in about ten milliseconds."""
PAGE_SIZE: Final = 50
MAX_USERS: Final = 100
"""Users whose address may match a search."""
FILTER_LOOKUPS: Final = ("", "__exact", "__isnull", "__isempty", "__gte", "__lt", "__year", "__month", "__day")
"""Lookups that Django's filters and date hierarchy add to a column in a URL."""


class CappedPaginator(Paginator[Any]):
    """Counts no further than COUNTED_TO."""

    @cached_property
    def _counted(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[: COUNTED_TO + 1].count())

    @cached_property
    def count(self) -> int:
        """Rows that can be paged."""
        return min(self._counted, COUNTED_TO)

    @cached_property
    def count_text(self) -> str:
        """The row count in words: exact, about, or more than."""
        if self._counted <= COUNTED_TO:
            return f"{self._counted:,}"
        rows: Any = self.object_list
        if not rows.query.where and (about := estimate(rows.model)) > COUNTED_TO:
            return f"about {about:,}"
        return f"more than {COUNTED_TO:,}"


def estimate(model: type[models.Model]) -> int:
    """PostgreSQL's estimate of the table's rows; −1: never analyzed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [model._meta.db_table])
        (about,) = cursor.fetchone() or (-1,)
    return int(about)


class LongChangeList(ChangeList):
    """A list whose filters look at the newest rows only."""

    is_windowed = False
    """Whether rows older than the newest FILTERED_AMONG were left out; the page says so."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        """The rows within the window."""
        rows = super().get_queryset(request, exclude_parameters)
        if self.query or not self.has_active_filters or not isinstance(self.opts.pk, models.AutoField):
            return rows
        newest = self.model._default_manager.order_by("-pk").values_list("pk", flat=True).first() or 0
        self.is_windowed = newest > FILTERED_AMONG
        return rows.filter(pk__gt=newest - FILTERED_AMONG) if self.is_windowed else rows

    def get_ordering(self, request: HttpRequest, queryset: Any) -> list[Any]:
        """The list's own order, whatever the URL says: any other would sort the whole table."""
        self.params.pop(ORDER_VAR, None)
        ordered: list[Any] = super().get_ordering(request, queryset)
        return ordered

    @property
    def filtered_among(self) -> str:
        """FILTERED_AMONG, formatted for the page."""
        return f"{FILTERED_AMONG:,}"


class LargeTableAdmin(ModelAdmin[Any]):
    """The admin of a table that may have a million rows."""

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # one count of the whole table for each choice of each filter
    list_per_page = PAGE_SIZE
    list_max_show_all = PAGE_SIZE
    sortable_by = ()
    ordering = ("-pk",)
    search_fields = ("pk",)
    """Any value turns on the search box; `found_by` says what is searched."""
    found_by: Sequence[str] = ("pk",)
    """Indexed columns that are compared with the search term."""
    person = "user"
    """The column of the owner."""
    search_help_text = "An id, or the start of a user's email address"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list with windowed filters."""
        return LongChangeList

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Search by id or by owner; no joins, so no duplicates."""
        term = search_term.strip()
        return (queryset.filter(self.search_condition(term)) if term else queryset), False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Allow only lookups of the list's own filters."""
        return lookup in self._filter_lookups(request) and super().lookup_allowed(lookup, value, request)

    def _filter_lookups(self, request: HttpRequest) -> set[str]:
        filters = [entry[0] if isinstance(entry, (tuple, list)) else entry for entry in self.get_list_filter(request)]
        names = [str(name) for name in (*filters, self.date_hierarchy) if name]
        columns: dict[str, Any] = {name: get_fields_from_path(self.model, name)[-1] for name in names}
        rows = {f"{name}__{column.target_field.name}__exact" for name, column in columns.items() if column.is_relation}
        return rows | {name + lookup for name in names for lookup in FILTER_LOOKUPS}

    def search_condition(self, term: str) -> Q:
        """Match rows by id; if the term can't be an id, rows of the users it matches."""
        called = {name: value for name in self.found_by if (value := self._value(name, term)) is not None}
        if called:
            return Q(*called.items(), _connector=Q.OR)
        return Q(**{f"{self.person}__in": people(term)})

    def _value(self, name: str, term: str) -> Any:
        column = self.model._meta.pk if name == "pk" else self.model._meta.get_field(name)
        target = column.target_field if isinstance(column, models.ForeignKey) else column
        try:
            return target.to_python(term)
        except ValidationError:
            return None


def people(term: str) -> list[int]:
    """Ids of users whose email address starts with the term; all but old addresses are stored in lower case."""
    begins = Q(email__startswith=term) | Q(email__startswith=term.lower())
    return list(User.objects.filter(begins).values_list("pk", flat=True)[:MAX_USERS])
