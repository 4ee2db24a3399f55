"""Page data of the search: conversations by their words, facts and documents by meaning, under one query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from chat.conversations.search import Filter, FoundConversation, Results, search
from chat.conversations.search_query import MAX_QUERY_CHARS
from chat.models import Conversation
from memory.forms import DayField
from memory.forms import SearchForm as MemoryForm
from memory.pages.search import Result, build_search_page, has_memories
from memory.retrieval.ranking import Source
from memory.text.message_kinds import asks

MAX_PAGES: Final = 1_000
FIRST: Final = 4
"""Results of each kind under All."""
WEAK_SCORE: Final = 0.3
"""A memory below this without a word of the query is collapsed where other results have the words."""

PLACES: Final[Mapping[str, str]] = {
    "": "All",
    "conversations": "Conversations",
    "facts": "Facts",
    "documents": "Documents",
}
"""What can be searched: the value of `in`, and its label."""
SOURCES: Final[Mapping[str, tuple[Source, ...]]] = {
    "": ("fact", "episode", "document"),
    "conversations": ("message", "segment"),
    "facts": ("fact", "episode"),
    "documents": ("document",),
}
"""What is searched by meaning; conversations by their words first, and by meaning under All if none has them."""
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("since", "until"),
    "conversations": ("role", "since", "until", "archived", "order"),
    "facts": ("since", "until", "kind", "least", "scope", "tag", "as_of"),
    "documents": ("since", "until", "folder", "scope", "tag", "as_of"),
}
"""The filters of each place."""


class SearchForm(forms.Form):
    """The query and the filters of conversations; `MemoryForm` reads the others."""

    q = forms.CharField(
        required=False, max_length=MAX_QUERY_CHARS, strip=False, empty_value="", label="Words, or a full question"
    )
    role = forms.ChoiceField(
        required=False, label="Author", choices=[("", "Anyone"), ("user", "You"), ("assistant", "Recall")]
    )
    since = DayField("From")
    until = DayField("To", is_end=True)
    archived = forms.ChoiceField(
        required=False, label="Archived", choices=[("", "Include"), ("no", "Exclude"), ("only", "Only")]
    )
    order = forms.ChoiceField(required=False, label="Sort by", choices=[("", "Best match"), ("newest", "Newest")])
    within = forms.UUIDField(required=False, widget=forms.HiddenInput)
    page = forms.IntegerField(required=False, min_value=1, max_value=MAX_PAGES, widget=forms.HiddenInput)

    def build_filter(self) -> Filter:
        """The search filter of a valid form."""
        data = self.cleaned_data
        return Filter(
            **{name: data[name] for name in ("role", "since", "until", "archived")},
            newest_first=data["order"] == "newest",
            conversation=data["within"],
        )


@dataclass(frozen=True, slots=True)
class Section:
    """Results from memory under one heading."""

    heading: str
    results: list[Result]
    all_of_them: str = ""
    """URL of the place that shows all; empty: it is this page."""


def build_search(user: User, query: QueryDict) -> dict[str, Any]:
    """Everything the search page shows for a query; `is_valid` is false if a field is invalid."""
    place = query.get("in", "") if query.get("in", "") in PLACES else ""
    form, memory = SearchForm(query), MemoryForm(_memory_fields(query, place))
    is_valid = form.is_valid() and memory.is_valid()
    frame = {
        "form": form,
        "memory": memory,
        "place": place,
        "places": [(label, _address(query, one), one == place) for one, label in PLACES.items()],
        "place_label": PLACES[place],
        "fields": FIELDS[place],
        "is_narrowed": any(query.get(name) for name in FIELDS[place]),
        "is_valid": is_valid,
        "errors": [str(lines[0]) for lines in {**memory.errors, **form.errors}.values()],
        "query": urlencode({name: value for name, value in query.items() if value and name != "page"}),
        "typed": str(form.cleaned_data.get("q") or "").strip(),
    }
    return {**frame, **(_find(user, form, memory, query, place) if is_valid else {"results": Results()})}


def _memory_fields(query: QueryDict, place: str) -> QueryDict:
    """The query with only the filters that the place has."""
    fields = query.copy()
    for name in MemoryForm.base_fields:
        if name not in ("q", *FIELDS[place]):
            fields.pop(name, None)
    fields.setlist("source", list(SOURCES[place]))
    return fields


def _address(query: QueryDict, place: str) -> str:
    kept = [(name, value) for name in ("q", *FIELDS[place]) for value in query.getlist(name) if value]
    return f"{reverse('search')}?{urlencode([*kept, *([('in', place)] if place else [])])}"


def _find(user: User, form: SearchForm, memory: MemoryForm, query: QueryDict, place: str) -> dict[str, Any]:
    only, page = form.build_filter(), form.cleaned_data["page"] or 1
    by_words = place in ("", "conversations")
    typed, now = form.cleaned_data["q"], timezone.now()
    results = search(user, typed, only, now, page) if by_words else Results()
    by_meaning = page == 1 and not only.conversation and not (by_words and (only.role or only.archived))
    if not (place or results.found):  # “Where does my sister live?”: what was said may have other words
        memory.cleaned_data["source"] = [*SOURCES["conversations"], *SOURCES[""]]
    found = build_search_page(user, memory) if by_meaning else {}
    remembered: list[Result] = found.get("results", [])
    strong, weak = remembered, list[Result]()
    if place != "conversations":  # there, all of them are under “Similar in meaning”
        strong, weak = _split_weak(remembered, has_words=bool(results.found))
    sections = _build_sections(query, place, strong, results.found)
    mine = Conversation.objects.not_deleted().for_user(user)
    return {
        "results": results,
        "conversations": results.found if place else results.found[:FIRST],
        "all_conversations": "" if place or len(results.found) <= FIRST else _address(query, "conversations"),
        "within": mine.filter(pk=only.conversation).first(),
        "has_nothing": not (results.found or remembered or mine.exists() or has_memories(user)),
        "sections": sections,
        "weak": weak,
        "is_question": asks(typed),
        "left_out": found.get("left_out", []) if place in ("facts", "documents") else [],
        **{name: found.get(name) for name in ("left_out_count", "is_small_talk", "tags", "choices")},
    }


def _split_weak(remembered: list[Result], *, has_words: bool) -> tuple[list[Result], list[Result]]:
    """The results worth a place, and those only near in meaning where others have words of the query."""
    by_words = {result.item.ref for result in remembered if any(piece.is_asked for piece in result.pieces)}
    if not (by_words or has_words):
        return remembered, []
    strong = [item for item in remembered if item.item.ref in by_words or item.item.score >= WEAK_SCORE]
    return strong, [item for item in remembered if item not in strong]


def _build_sections(
    query: QueryDict, place: str, remembered: list[Result], found: list[FoundConversation]
) -> list[Section]:
    """What memory holds: under All, the first of each kind."""
    if place == "conversations":
        shown = {reverse("message", args=[hit.id]) for item in found for hit in item.hits}
        sections = [Section("Similar in meaning", [memory for memory in remembered if memory.link not in shown])]
    elif place:
        sections = [Section(PLACES[place], remembered)]
    else:
        sections = [_first_of(query, one, remembered) for one in ("conversations", "facts", "documents")]
    return [section for section in sections if section.results]


def _first_of(query: QueryDict, place: str, remembered: list[Result]) -> Section:
    of_place = [memory for memory in remembered if memory.item.source in SOURCES[place]]
    return Section(PLACES[place], of_place[:FIRST], _address(query, place) if len(of_place) > FIRST else "")
