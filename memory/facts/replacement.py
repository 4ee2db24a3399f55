"""Replacement: whether a new statement says that an older one no longer holds, in whatever words. Pure.

    ended       “no longer works at Acme”, “left Acme”        against “works at Acme”
    changed     “the key is now kept in Vault”                against “the key is kept in 1Password”
    other value “stand-up is at 10:15”                        against “stand-up is at 9:30”: likely, so review asks

Both must be about the same thing: the new statement contains the older one's subject, or all that it says. Verbs that
can have many objects (“plays tennis now”) replace nothing, and neither does “also”.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from typing import Final

from memory.facts.deduplication import GROUPS, PEOPLE
from memory.text.keywords import FILLER, NUMBERS, stem, words
from memory.text.parts import parts_of, verb_span


class Replaces(IntEnum):
    """How clearly a statement replaces another."""

    NOT = 0
    LIKELY = 1
    CLEARLY = 2


_CHANGED: Final = re.compile(
    r"\b(?:now|nowadays|these days|currently|instead|again|from now on|as of|any ?more|no longer|moved (?:back )?to"
    r"|(?:switched|changed|rescheduled|postponed|pushed|relocated|upgraded|raised|increased|reduced|lowered|updated) to"
    r"|(?:went|gone) (?:up|down|back) to|is back (?:in|at|on|to)"
    r"|renamed|became|(?:(?<=['’]s )|(?<=my )|(?<=our )|(?<=the ))new)\b",
    re.I,
)
"""Words that say that something is new, and wasn't so before."""
_CHANGING: Final = "moved switched changed went go goes renamed replaced became start"
_MARKER_WORDS: Final = frozenset(map(stem, _CHANGING.split()))
_ENDED: Final = re.compile(
    r"\b(?:no longer|not (?=.*any ?more)|(?:does|do|is|are|has|have|was|did)n['’]t (?=.*any ?more)|stopped|quit)\b",
    re.I,
)
_LEFT: Final = re.compile(
    r"\b(?:left|quit|sold|resigned from|gave up|got rid of|dropped out of|cancelled|canceled)\b", re.I
)
_OUT: Final = re.compile(
    r"\b(?:replac(?:ed|es)|instead of|rather than|swapped|traded|(?:moved|switched|migrated|changed) (?:\w+ ){0,4}?from"
    r"|(?:taken|took|takes) over (?:\w+ ){1,4}?from)\s+(.+?)(?=\s+(?:to|with|for|as|by|in|on|at)\b|[,.;]|$)",
    re.I,
)
"""The value that something else replaced: “switched from Jira to Linear”."""
MAX_READ: Final = 4_096
"""Statements whose reading is remembered: one is compared with all others."""
_ADDS: Final = re.compile(r"^one of\b|\b(?:also|too|another|second|both|as well|additionally|besides)\b", re.I)
_ONLY: Final = re.compile(r"\bonly\b(?! \d)", re.I)
_PAST: Final = re.compile(r"\b(?:used to|formerly|previously|until)\b", re.I)
_NAMES_ONE: Final = re.compile(r"The user's [\w-]+ is (?:called|named) [A-ZÀ-ÞĀ-Ž]")
"""Of several children or rabbits: another's name replaces none. Where there is one, the key replaces it."""
_WAS: Final = re.compile(r"\b(?:used to|formerly|previously)\b", re.I)
"""How it was isn't replaced by how it is now."""
_NEGATED: Final = re.compile(r"\b(?:not|no|never)\b|n['’]t\b", re.I)
_ONE_AT_A_TIME: Final = "live reside work drive weigh stay sleep lodge earn pay cost"
ONE_AT_A_TIME: Final = frozenset(map(stem, _ONE_AT_A_TIME.split()))
"""Verbs with one object at a time; other verbs can have many."""
ONE_HOLDER: Final = frozenset(map(stem, ["lead", "led", "head", "manage", "chair", "captain"]))
"""Verbs with one subject at a time: one person leads a team."""
_SPELLED: Final = {digits: word for word, digits in NUMBERS.items()}
_PREPOSITIONS: Final = frozenset(["in", "on", "at", "with", "by", "to", "from", "for", "via", "under"])


@dataclass(frozen=True, slots=True)
class _ParsedStatement:
    subject: frozenset[str]
    rest: frozenset[str]
    all: frozenset[str]
    tokens: tuple[str, ...]
    verb_at: int
    is_of_user: bool
    has_ended: bool
    is_negated: bool

    @property
    def verb(self) -> str:
        """The first verb; empty if none was found."""
        return self.tokens[self.verb_at] if self.verb_at < len(self.tokens) else ""

    @property
    def is_placed(self) -> bool:
        """Whether the statement only says where or when something is: “is stored on …”, “is in …”."""
        return self.verb in ("is", "are") and not _PREPOSITIONS.isdisjoint(
            self.tokens[self.verb_at + 1 : self.verb_at + 3]
        )


@dataclass(frozen=True, slots=True)
class _Change:
    """What a new statement says of older ones."""

    left: frozenset[str] | None
    """What was left or given up; None: nothing was."""
    out: frozenset[str] | None
    """The value that something else replaced; None: none is named."""
    only: _ParsedStatement | None
    """The statement without its “only”; None: it has none."""
    is_stated: bool
    """Whether it says that something is so now, and wasn't before."""
    stems: tuple[str, ...]
    """Letters of its words; a number in digits and spelled."""

    def may_concern(self, older: str) -> bool:
        """Whether a statement may share a word: a stem starts its word. That spares reading most of a thousand."""
        letters = unicodedata.normalize("NFKC", older).casefold()
        return any(stem in letters for stem in self.stems)


def with_now(statement: str, quote: str) -> str:
    """The statement with the “now” that only the words it rests on have: “my manager is Tobias now”."""
    is_lost = states_change(quote) and not states_change(statement)
    return f"{statement.rstrip('.')} now." if is_lost else statement


def states_change(statement: str) -> bool:
    """Whether the statement says that something is so now, or again, and wasn't before."""
    return _CHANGED.search(statement) is not None


def replaces(newer: str, older: str) -> Replaces:
    """Whether, and how clearly, `newer` says that `older` no longer holds."""
    change = _read_change(newer)
    if change is None or newer == older or not change.may_concern(older):
        return Replaces.NOT
    if _NAMES_ONE.match(newer) and _NAMES_ONE.match(older):
        return Replaces.NOT
    new, old = _read(newer), _read(older)
    if old.has_ended or _WAS.search(older) or new.all.isdisjoint(old.all) or _of_others(new, old):
        return Replaces.NOT
    if new.has_ended:
        is_same = not old.is_negated and _within(new.all, old.all) and _within(old.subject, new.all)
        return Replaces.CLEARLY if is_same else Replaces.NOT
    if change.left is not None:
        named = bool(change.left) and _within(change.left, old.rest) and _within(old.subject, new.all)
        return Replaces.CLEARLY if named else Replaces.NOT
    if change.out is not None:
        return Replaces.CLEARLY if _is_out(change.out, new, old) else Replaces.NOT
    if new.is_negated != old.is_negated:
        return Replaces.NOT
    if change.only and _excludes(change.only, old):
        how = Replaces.CLEARLY
    elif change.is_stated:
        how = Replaces.CLEARLY if _gives_other_value(new, old) else Replaces.NOT
    else:
        how = Replaces.LIKELY if _differs_at_the_end(new, old) else Replaces.NOT
    return how if how and len(parts_of(older)) == 1 else Replaces.NOT  # the rest of several may still hold


def _excludes(new: _ParsedStatement, old: _ParsedStatement) -> bool:
    """Whether “only drinks tea” leaves nothing of “drinks two coffees every morning”."""
    same = bool(new.verb) and stem(new.verb) == stem(old.verb) and new.subject == old.subject
    return (
        same
        and new.is_of_user == old.is_of_user
        and old.verb not in ("is", "has")
        and not (new.rest & old.rest) - {stem(new.verb)}
    )


def _of_others(new: _ParsedStatement, old: _ParsedStatement) -> bool:
    """Whether only one is about the user, or they name different relatives."""
    return (new.is_of_user and old.is_of_user and bool(new.all & PEOPLE != old.all & PEOPLE)) or (
        new.is_of_user != old.is_of_user and bool((new.subject ^ old.subject) & PEOPLE)
    )


def _is_out(what: frozenset[str], new: _ParsedStatement, old: _ParsedStatement) -> bool:
    """Whether `what` is the old value of the same subject."""
    if not what or not _within(what, old.all):
        return False
    shared = {word for word in old.all - what if _has(new.all, word)}
    same_subject = new.subject == old.subject and new.is_of_user == old.is_of_user
    return bool(shared) or same_subject or (what == old.rest and new.is_of_user and old.is_of_user)


def _gives_other_value(new: _ParsedStatement, old: _ParsedStatement) -> bool:
    """Whether both share their subject or everything they say of it, and each has something of its own."""
    frame = {word for word in old.all if _has(new.all, word)}
    old_only, new_only = old.all - frame, {word for word in new.all if not _has(old.all, word)}
    if not old_only or not new_only - _MARKER_WORDS:
        return False
    # the same is said of another subject: “Petra leads the team”, “the team is led by Tomas now”
    if old_only <= old.subject:
        turned = bool(new.subject) and _within(new.subject, old.rest)
        return len(old.rest) > 1 and (turned or bool(frame & ONE_HOLDER))
    if not old_only <= old.rest or not _within(old.subject, new.all):
        return False
    if not old.subject:
        return len(frame) > 1 or frame <= ONE_AT_A_TIME
    are_numbers = all(any(word.isdigit() for word in some) for some in (old_only, new_only))
    return not frame <= old.subject or are_numbers or old.is_placed or old.verb == new.verb


def _differs_at_the_end(new: _ParsedStatement, old: _ParsedStatement) -> bool:
    """Whether only the last words differ, after a verb with a preposition or the name of an attribute."""
    same = 0
    for one, other in zip(new.tokens, old.tokens, strict=False):
        if one != other:
            break
        same += 1
    ends = new.tokens[same:], old.tokens[same:]
    if not all(0 < len(end) <= 4 for end in ends) or same <= old.verb_at:
        return False
    before = [word for word in new.tokens[:same] if word not in ("the", "a", "an")]
    placed = bool(before) and before[-1] in _PREPOSITIONS
    if not old.subject:
        return placed and any(stem(word) in ONE_AT_A_TIME for word in old.tokens[old.verb_at : same])
    are_values = all(word[:1].isdigit() for end in ends for word in end)
    return not old.subject <= PEOPLE and (placed or are_values)


def _within(some: frozenset[str], others: frozenset[str]) -> bool:
    return all(_has(others, word) for word in some)


def _has(words_: frozenset[str], word: str) -> bool:
    return word in words_ or not _SAME_AS.get(word, frozenset()).isdisjoint(words_)


_FORMS: Final = ("lead led head", "keep kept store stored", "run ran", "hold held", "pay paid", "cost costs price")
_SAME: Final = (
    *(group for group in GROUPS if len(group) > 1 and not group & {stem("piano"), stem("own")}),
    *(frozenset(map(stem, line.split())) for line in _FORMS),
)
"""Groups of words with the same meaning, not just a similar one."""
_SAME_AS: Final = {word: frozenset(chain(*(group for group in _SAME if word in group))) for word in chain(*_SAME)}


@lru_cache(maxsize=MAX_READ)
def _read_change(newer: str) -> _Change | None:
    """None: it replaces nothing."""
    if _ADDS.search(newer) or _PAST.search(newer):
        return None
    left, out = _LEFT.search(newer), _OUT.search(newer)
    return _Change(
        _content(newer[left.end() :].partition(" in ")[0].partition(" on ")[0]) if left else None,
        _content(out[1]) if out else None,
        _read(_ONLY.sub("", newer)) if _ONLY.search(newer) else None,
        states_change(newer),
        tuple(chain(*({word, _SPELLED.get(word, word)} for word in _read(newer).all))),
    )


@lru_cache(maxsize=MAX_READ)
def _read(statement: str) -> _ParsedStatement:
    whole = " ".join(_ENDED.sub(" ", statement).split())
    subject = _content(_CHANGED.sub(" ", whole[: verb_span(whole)[0]]))
    plain = " ".join(_CHANGED.sub(" ", whole).rstrip(" .!?").split())
    start, end = verb_span(plain)
    tokens, rest = tuple(words(plain)), _content(plain) - subject
    return _ParsedStatement(
        subject,
        rest,
        subject | rest,
        tokens,
        len(words(plain[:start])) if end else len(tokens),
        re.match(r"(?:the user|i|we|my|our)\b", statement, re.I) is not None,
        _ENDED.search(statement) is not None,
        _NEGATED.search(statement) is not None,
    )


def _content(text: str) -> frozenset[str]:
    found = (NUMBERS.get(word, word).removesuffix("'s") for word in words(text))
    return frozenset(stem(word) for word in found if word not in FILLER and (len(word) > 1 or word.isdigit()))
