"""The name and time zone the user stated: in this conversation, else as a fact. The account's own are the fallback.

The clock lines of the next prompt use them at once; the context panel offers to store them in the account.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from django.utils.crypto import salted_hmac

from accounts.models import User
from accounts.time_zones import find_zone
from memory.facts.keys import USER, make_key
from memory.models import Fact
from memory.text.user_text import mask_foreign_text
from recall.db.prepared import PreparedQuery, Read

_NAME: Final = r"(?P<name>[^\W\d_a-z][\w'’.-]*(?: [^\W\d_a-z][\w'’.-]*){0,2})"
_NAMES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:^|[,;:–—-] ?|\b(?:[Pp]lease|[Jj]ust|and|but|so|[Yy]ou (?:can|may|could)) )[Cc]all me {_NAME}",
        rf"\b[Mm]y (?:first |preferred )?name(?: is|['’]s) {_NAME}",
        rf"\bI go by {_NAME}",
    )
)
"""Names start with a capital letter: “call me later” doesn't state one."""
_PLACE: Final = r"(?P<zone>[\w/+−' -]{2,40}?)"
_ZONES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bmy time ?zone(?: is|['’]s)(?: now)? {_PLACE}(?= now\b|[.,;!)]|$)",
        rf"\bI(?: am|['’]m)(?: now| currently)? (?:in|on) (?:the )?{_PLACE} time(?: ?zone)?\b",
        rf"\b(?:use|set my time ?zone to) {_PLACE}(?: time(?: ?zone)?)?(?= please\b|[.,;!)]|$)",
    )
)
_NOT_MEANT: Final = re.compile(
    r"\?\s*$"
    r"|\b(?:if|suppose|imagine|pretend|let['’]s say|used to|no longer|never|don['’]t|not|story|novel|character)\b",
    re.IGNORECASE,
)
"""A sentence with one of these doesn't state anything about the user now."""
MAX_NAME: Final = 80
"""Characters of the account's column."""
_KEYS: Final = {make_key(USER, attribute): attribute for attribute in ("preferred_name", "name", "time_zone", "home")}

type _FactRow = tuple[int, str, str]
"""A fact's id, key and value."""

_FACTS: Final[PreparedQuery[_FactRow]] = PreparedQuery(
    lambda user: (
        Fact.objects.filter(user=user, status=Fact.Status.ACTIVE, key__in=list(_KEYS))
        .uncontested()
        .values_list("pk", "key", "value")
    ),
    user=int,
)


@dataclass(frozen=True, slots=True)
class Stated:
    """Values the user stated (empty: not stated), and the refs of the facts behind them."""

    preferred_name: str = ""
    time_zone: str = ""
    name_ref: str = ""
    zone_ref: str = ""

    def without(self, refs: Iterable[str]) -> "Stated":
        """The same without values that depend on these facts."""
        refs = set(refs)
        kept = self if self.name_ref not in refs else replace(self, preferred_name="", name_ref="")
        return kept if self.zone_ref not in refs else replace(kept, time_zone="", zone_ref="")


NOTHING_STATED: Final = Stated()


def open_offers(user: User, stated: Mapping[str, str]) -> dict[str, str]:
    """By column of the account: values to offer for storing, unless they are already stored or the user
    declined them."""
    return {
        column: value
        for column, value in stated.items()
        if value and value != getattr(user, column) and offer_id(column, value) not in user.declined_offers
    }


def offer_id(column: str, value: str) -> str:
    """Id under which a declined offer is remembered: without the words, which may be forgotten."""
    return salted_hmac("declined offer", f"{column}:{value}", algorithm="sha256").hexdigest()[:32]


def stated_read(user: User) -> Read:
    """What `load_stated` reads."""
    return _FACTS.read(user=user.pk)


def load_stated(user: User, texts: Iterable[str]) -> Stated:
    """What the user's messages state, oldest first, else what the facts state. One statement."""
    said = stated_in(texts)
    known = _stated_by_facts(user, {key: (pk, value) for pk, key, value in _FACTS(user=user.pk)})
    return Stated(
        preferred_name=said.preferred_name or known.preferred_name,
        time_zone=said.time_zone or known.time_zone,
        name_ref="" if said.preferred_name else known.name_ref,
        zone_ref="" if said.time_zone else known.zone_ref,
    )


def stated_in(texts: Iterable[str]) -> Stated:
    """What these messages state; the last statement wins."""
    name = zone = ""
    for text in texts:
        for sentence in _meant(text):
            name = next((found["name"].rstrip(".") for said in _NAMES if (found := said.search(sentence))), name)
            zones = (find_zone(found["zone"]) for said in _ZONES if (found := said.search(sentence)))
            zone = next(filter(None, zones), zone)
    return Stated(name[:MAX_NAME], zone)


def _meant(text: str) -> Iterator[str]:
    sentences = re.split(r"(?<=[.!?])\s+|\n", mask_foreign_text(text))
    return (sentence.strip() for sentence in sentences if not _NOT_MEANT.search(sentence))


def _stated_by_facts(user: User, facts: Mapping[str, tuple[int, str]]) -> Stated:
    """The facts by key, without those the user declined to store: the user knows better than the librarian."""
    known = NOTHING_STATED
    for key, attribute in _KEYS.items():
        pk, value = facts.get(key, (0, ""))
        is_zone = attribute in ("time_zone", "home")
        column, value = ("time_zone", find_zone(value)) if is_zone else ("preferred_name", value[:MAX_NAME])
        if not value or getattr(known, column) or offer_id(column, value) in user.declined_offers:
            continue
        if attribute == "name" and user.preferred_name and user.preferred_name in value:
            continue  # “Alice” agrees with the full name “Alice Smith”
        known = replace(known, **{column: value, "zone_ref" if is_zone else "name_ref": f"fact:{pk}"})
    return known
