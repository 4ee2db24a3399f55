"""The cached prefix of a request: parts the provider has counted before use its figures instead of an estimate.

The system blocks and each history turn are *parts*: the same bytes in every request. The provider reports the size of
all parts together as read from or written to its cache, so one new part beside known ones is known exactly. A receipt
stores the counts of its prompt's parts; the next request looks up its own, also after a cut. Parts without a count are
estimated by the learned ratios.

Without cache figures, the parts get the total minus the estimate of the rest, with that estimate's variance.

Accuracy, over conversations of prose, code, JSON and seven languages with the offline server's tokenizer
(`tests/chat/prompt/test_estimate.py`), from the tenth turn on: 95% of the predictions are off by at most 0.8% in the
plan `standard` and 1.5% in `small`; with ratios alone it is 2.0% and 3.2%.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, pairwise
from typing import Any, Final, Protocol

from accounts.models import User
from budget.counting.estimate import TextClass
from budget.counting.learning import BELIEVABLE, Belief, Counts, Observation, expected, standard_deviation
from budget.models import Receipt
from budget.planning.fit import FitResult, Piece, section_totals
from budget.planning.plan import ResolvedPlan, Section
from recall.db.prepared import PreparedQuery, Read

SYSTEM: Final = frozenset({Section.SYSTEM_PROMPT, Section.BOUNDARIES, Section.ROLE, Section.PROFILE})
"""Sections in the tools and system blocks: one part."""
BELIEVABLE_SHARE: Final = 0.05
"""A cache figure this close to the expected size is accepted, however certain the ratios are."""

_PREFIX: Final = PreparedQuery(
    lambda user, message, model: Receipt.objects.filter(user=user, message_id=message, model=model).values_list(
        "prefix", flat=True
    ),
    user=int,
    message=int,
    model=str,
)


class CountedPiece(Protocol):
    """A piece, its text and its base counts."""

    @property
    def piece(self) -> Piece: ...
    @property
    def text(self) -> str: ...
    @property
    def counts(self) -> Counts: ...


@dataclass(frozen=True, slots=True)
class KnownCounts:
    """The provider's counts of the parts of the last request."""

    parts: Mapping[str, int]
    variance: float = 0.0
    """Variance of their sum; 0 if it is the provider's own figure."""


@dataclass(frozen=True, slots=True)
class Part:
    """Pieces that are always sent together with the same bytes."""

    key: str
    refs: Sequence[str]
    counts: Counts


@dataclass(frozen=True, slots=True)
class Prefix:
    """The parts of one request, and their known counts."""

    parts: Sequence[Part] = ()
    tail: Counts = field(default_factory=dict)
    """Base counts of what follows the parts: memories, clock, the message."""
    known: Mapping[str, int] = field(default_factory=dict)
    """Tokens, by the key of the part."""
    variance: float = 0.0

    @property
    def unknown(self) -> Counts:
        """Base counts of everything that must be estimated."""
        return sum_counts([self.tail, *(part.counts for part in self.parts if part.key not in self.known)])

    def as_json(self) -> dict[str, Any]:
        """The prefix as an open receipt stores it."""
        return {
            "known": dict(self.known),
            "new": {part.key: dict(part.counts) for part in self.parts if part.key not in self.known},
            "tail": dict(self.tail),
            "variance": self.variance,
        }


# Before the request -----------------------------------------------------------------------------------------------


def load_known_counts(user: User, message_id: int, model: str) -> KnownCounts | None:
    """The counts of the parts in this earlier answer's request, or None."""
    prefix = _PREFIX.first(user=user.pk, message=message_id, model=model) or {}
    return KnownCounts(prefix["parts"], prefix["variance"]) if prefix.get("parts") else None


def known_counts_read(user: User, message_id: int, model: str) -> Read:
    """What `load_known_counts` reads."""
    return _PREFIX.read(user=user.pk, message=message_id, model=model)


def build_prefix(counted: Iterable[CountedPiece], kept: Sequence[Piece], known: KnownCounts | None) -> Prefix:
    """The parts of a prompt. `counted`: its counted pieces; `kept`: its pieces with the placeholder."""
    weighed = {item.piece.ref: item for item in counted}
    parts = tuple(_parts(kept, weighed))
    rest = [item for item in weighed.values() if item.piece.section not in SYSTEM | {Section.HISTORY}]
    figures = {part.key: known.parts[part.key] for part in parts if known and part.key in known.parts}
    variance = known.variance if known and figures else 0.0
    return Prefix(parts, sum_counts(item.counts for item in rest), figures, variance)


def with_known_figures(fitted: FitResult, plan: ResolvedPlan, prefix: Prefix) -> FitResult:
    """The same prompt with the pieces of each known part scaled to its count."""
    tokens = {piece.ref: piece.tokens for piece in fitted.kept}
    for part in prefix.parts:
        if part.key in prefix.known:
            sizes = [tokens[ref] for ref in part.refs]
            tokens.update(zip(part.refs, apportion(prefix.known[part.key], sizes), strict=True))
    kept = tuple(
        piece if tokens[piece.ref] == piece.tokens else replace(piece, tokens=tokens[piece.ref])
        for piece in fitted.kept
    )
    return replace(fitted, kept=kept, sections=section_totals(kept, fitted.cut, plan))


def _parts(kept: Sequence[Piece], weighed: Mapping[str, CountedPiece]) -> Iterator[Part]:
    system = [piece for piece in kept if piece.section in SYSTEM]
    text = "\n".join(weighed[piece.ref].text for piece in system)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    yield _part(f"system:{digest}", system, weighed)
    history = [piece for piece in kept if piece.section is Section.HISTORY]
    for _, run in groupby(history, key=lambda piece: piece.turn):
        pieces = list(run)
        # A text that changed (something was forgotten) has another length.
        yield _part("+".join(_named(piece, weighed) for piece in pieces), pieces, weighed)


def _named(piece: Piece, weighed: Mapping[str, CountedPiece]) -> str:
    return f"{piece.ref}:{len(weighed[piece.ref].text)}" if piece.ref in weighed else piece.ref


def _part(key: str, pieces: Sequence[Piece], weighed: Mapping[str, CountedPiece]) -> Part:
    counts = [weighed[piece.ref].counts for piece in pieces if piece.ref in weighed]
    return Part(key, tuple(piece.ref for piece in pieces), sum_counts(counts))


# After it ---------------------------------------------------------------------------------------------------------


def reconcile_usage(
    prefix: Mapping[str, Any], belief: Belief, cached: int, total: int
) -> tuple[list[Observation], dict[str, Any]]:
    """Observations from one request's usage, and the prefix as the closed receipt stores it.

    `cached`: tokens read from or written to the cache, which are all parts if the server caches as Anthropic does;
    accepted if close to the expected size.
    """
    new, tail, variance = prefix["new"], prefix["tail"], prefix["variance"]
    joined, before = sum_counts(new.values()), sum(prefix["known"].values())
    wanted = before + expected(belief, joined)
    allowed = BELIEVABLE * (standard_deviation(belief, joined) + variance**0.5)
    if cached and abs(cached - wanted) <= max(allowed, BELIEVABLE_SHARE * wanted):
        figures, size, unsure = (
            [Observation(joined, cached - before, variance), Observation(tail, total - cached)],
            cached,
            0.0,
        )
    else:
        figures = [Observation(sum_counts([joined, tail]), total - before, variance)]
        size, unsure = max(0, total - round(expected(belief, tail))), standard_deviation(belief, tail) ** 2
    sizes = {key: expected(belief, counts) for key, counts in new.items()}
    shares = apportion(max(0, size - before), list(sizes.values()))
    parts = {**prefix["known"], **dict(zip(sizes, shares, strict=True))}
    if not sizes:
        parts = dict(zip(parts, apportion(size, list(parts.values())), strict=True))
    return figures, {"parts": parts, "variance": unsure}


def apportion(total: int, sizes: Sequence[float]) -> list[int]:
    """Split `total` in proportion to `sizes`, in whole tokens that add up to it: rounded along the running sum."""
    whole = sum(sizes)
    if not whole:
        return [total, *([0] * (len(sizes) - 1))] if sizes else []
    until = [round(total * so_far / whole) for so_far in accumulate(sizes, initial=0.0)]
    return [later - earlier for earlier, later in pairwise(until)]


def sum_counts(counts: Iterable[Counts]) -> dict[TextClass, int]:
    """The sum of base counts by class."""
    total: dict[TextClass, int] = {}
    for one in counts:
        for kind, count in one.items():
            total[kind] = total.get(kind, 0) + count
    return total
