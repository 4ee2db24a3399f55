"""Template filters of memory's pages: certainty, freshness and origin in words, and profile documents line by line."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django import template
from django.utils import timezone

from memory.models import Fact
from memory.pages import labels, navigation
from memory.text.fact_lines import Line, lines_of
from memory.text.second_person import document_to_user, second_person, you_wrote

register = template.Library()
register.filter("you_wrote", you_wrote)
register.filter("document_to_user", document_to_user)
register.filter("sureness", labels.sureness)
register.filter("why_kept", labels.reason)
register.filter("said_reason", labels.said_reason)
register.filter("status_means", labels.status_means)


@register.filter(name="second_person")
def to_user(statement: str) -> str:
    """A statement, or a profile's line of a prompt (memory/documents/profile.py), as the user reads it."""
    fact, is_contested, proposal = statement.partition(" (contested by a proposal")
    if not is_contested:
        return second_person(fact)
    against = second_person(proposal.removeprefix(": ").removesuffix(")"))
    return f"{second_person(fact)} (a proposal contradicts it{against and f': {against}'})"


@register.simple_tag(takes_context=True)
def memory_tabs(context: Any) -> list[tuple[str, str, bool]]:
    """Label and URL of memory's tabs, and whether the page belongs to it."""
    return navigation.locate(navigation.TABS, context["request"].path)


@register.simple_tag(takes_context=True)
def memory_menu(context: Any) -> list[tuple[str, str, bool]]:
    """Label and URL of the other pages of memory, and whether the page is it."""
    return navigation.locate(navigation.MENU, context["request"].path)


APOSTROPHE_S = "'s "
BULLETS = ("- ", "* ", "+ ")


@register.filter
def freshness(fact: Fact) -> str:
    """Freshness in words, such as “fading”."""
    return labels.freshness(fact, timezone.now())


@register.filter
def whence(fact: Fact) -> str:
    """Origin in words, such as “You said so”."""
    return labels.SOURCES[Fact.Source(fact.source)]


@register.filter
def key_words(key: str) -> str:
    """A fact's key in words: `user/favorite_color` is “Your favorite color”, `mary/home` “Mary's home”.

    What comes after a colon is what it is about: `user/taste:rye_bread` is “Your taste: rye bread”.
    """
    owner, *names = key.replace("_", " ").replace(":", ": ").split("/")
    if owner == "user":
        return f"Your {APOSTROPHE_S.join(names)}"
    return APOSTROPHE_S.join([owner.capitalize(), *names])


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive lines of a document of the same kind."""

    are_bullets: bool
    lines: list[str]


@register.filter
def paragraphs(text: str) -> Iterator[Lines]:
    """A profile document in groups: bullets form lists, other lines paragraphs."""
    return _group(lines_of(text))


@register.filter
def own_paragraphs(text: str) -> list[Lines]:
    """Likewise, without the lines that Recall learned."""
    return list(_group(line for line in lines_of(text) if not line.fact))


@register.filter
def learned_lines(text: str) -> list[tuple[str, int]]:
    """The lines that Recall learned, each with its fact."""
    return [(_as_read(line), line.fact) for line in lines_of(text) if line.fact]


def _group(lines: Iterable[Line]) -> Iterator[Lines]:
    for kind, alike in groupby(lines, key=_kind):
        if kind:
            yield Lines(kind == "bullets", [_as_read(line) for line in alike])


def _kind(line: Line) -> str:
    if not line.unmarked.strip():
        return ""
    return "bullets" if line.unmarked.lstrip().startswith(BULLETS) else "text"


def _as_read(line: Line) -> str:
    words = line.unmarked.strip()
    words = words[2:].strip() if words.startswith(BULLETS) else words
    return second_person(words) if line.mark else words
