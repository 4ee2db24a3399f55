"""How do lists of the admin stay fast at a million rows? Nothing that a page asks may grow with the table.

    order     by number, the newest first: the primary key's own index. No column can be sorted by.
    count     at most COUNTED_TO rows are counted; beyond that PostgreSQL's own estimate is told
    search    by number, and by whose it is (the beginning of an e-mail address): both have an index
    filters   over all people they look at the newest FILTERED_AMONG rows; of one person's rows at all. No others than
              the list offers: an address could else ask any column for its first letters, hidden ones, too

A filter without the last rule would read the whole table wherever few rows match, such as “failed”.
"""

from __future__ import annotations

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
"""Rows that are counted, and that one can page through: nobody leafs further."""
FILTERED_AMONG: Final = 50_000
"""Numbers below the newest within which filters look, where no person is named: read in some ten milliseconds."""
A_PAGE: Final = 50
MOST_PEOPLE: Final = 100
"""People whose address may begin as asked."""
ASKED_BY_FILTERS: Final = ("", "__exact", "__isnull", "__isempty", "__gte", "__lt", "__year", "__month", "__day")
"""What Django's filters and its date hierarchy put behind the name of a column in an address."""


class CappedPaginator(Paginator[Any]):
    """Counts no further than it must."""

    @cached_property
    def _counted(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[: COUNTED_TO + 1].count())

    @cached_property
    def count(self) -> int:
        """Rows that can be paged through."""
        return min(self._counted, COUNTED_TO)

    @cached_property
    def count_text(self) -> str:
        """How many there are, for people: exact, about, or more than."""
        if self._counted <= COUNTED_TO:
            return f"{self._counted:,}"
        rows: Any = self.object_list
        if not rows.query.where and (about := estimate(rows.model)) > COUNTED_TO:
            return f"about {about:,}"
        return f"more than {COUNTED_TO:,}"


def estimate(model: type[models.Model]) -> int:
    """Rows of the whole table, as of PostgreSQL's last look at it; −1: it never looked."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [model._meta.db_table])
        (about,) = cursor.fetchone() or (-1,)
    return int(about)


class LongChangeList(ChangeList):
    """A list whose filters look no further back than they must."""

    is_windowed = False
    """Whether older rows than the newest FILTERED_AMONG were left out; the page says so."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        """As Django's, within the window."""
        rows = super().get_queryset(request, exclude_parameters)
        if self.query or not self.has_active_filters or not _is_numbered(self.model):
            return rows
        newest = self.model._default_manager.order_by("-pk").values_list("pk", flat=True).first() or 0
        self.is_windowed = newest > FILTERED_AMONG
        return rows.filter(pk__gt=newest - FILTERED_AMONG) if self.is_windowed else rows

    def get_ordering(self, request: HttpRequest, queryset: Any) -> list[Any]:
        """The list's own order, whatever the address says: any other would sort the whole table."""
        self.params.pop(ORDER_VAR, None)
        ordered: list[Any] = super().get_ordering(request, queryset)
        return ordered

    @property
    def filtered_among(self) -> str:
        """For the page."""
        return f"{FILTERED_AMONG:,}"


class LargeTableAdmin(ModelAdmin[Any]):
    """The admin of a table that may have a million rows."""

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # one count of the whole table for each choice of each filter
    list_per_page = A_PAGE
    list_max_show_all = A_PAGE
    sortable_by = ()
    ordering = ("-pk",)
    search_fields = ("pk",)
    """Any: so that there is a box. What is searched by says `found_by`."""
    found_by: Sequence[str] = ("pk",)
    """Columns with an index of their own that are compared with what was typed."""
    person = "user"
    """The column that says whose row it is."""
    search_help_text = "A number, or the beginning of a person's e-mail address"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list whose filters look no further back than they must."""
        return LongChangeList

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """By number or by person; never two rows for one, so nothing has to be made distinct."""
        term = search_term.strip()
        return (queryset.filter(self.search_condition(term)) if term else queryset), False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Only what the filters of the list ask themselves."""
        return lookup in self._asked_by_filters(request) and super().lookup_allowed(lookup, value, request)

    def _asked_by_filters(self, request: HttpRequest) -> set[str]:
        filters = [one[0] if isinstance(one, (tuple, list)) else one for one in self.get_list_filter(request)]
        names = [str(one) for one in (*filters, self.date_hierarchy) if one]
        columns: dict[str, Any] = {name: get_fields_from_path(self.model, name)[-1] for name in names}
        rows = {f"{name}__{column.target_field.name}__exact" for name, column in columns.items() if column.is_relation}
        return rows | {name + asked for name in names for asked in ASKED_BY_FILTERS}

    def search_condition(self, term: str) -> Q:
        """The rows that are called so; where no row can be, those of the people that are."""
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
    """Ids of those whose e-mail address begins so; addresses are kept in small letters but for old ones."""
    begins = Q(email__startswith=term) | Q(email__startswith=term.lower())
    return list(User.objects.filter(begins).values_list("pk", flat=True)[:MOST_PEOPLE])


def _is_numbered(model: type[models.Model]) -> bool:
    return isinstance(model._meta.pk, models.AutoField)
