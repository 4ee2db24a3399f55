"""Review precision by kind: how often the user accepted the librarian's proposals; the latest decision per fact.

Precision is accepted / (accepted + rejected). Accepted with edits counts as accepted, and is also counted on its own.
Proposals without a decision are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db.models import Count, F, Func, TextField, Value
from django.db.models.functions import Cast

from memory.librarian.policies import BY_REASON, SUBJECTS
from memory.models import ReviewAction

if TYPE_CHECKING:
    from accounts.models import User

MIN_DECISIONS: Final = 5
"""With fewer decisions, only the counts are shown."""


@dataclass(slots=True)
class Tally:
    """Decisions about one subject."""

    accepted: int = 0
    """Decisions to accept as proposed, next to another fact, or merged."""
    edited: int = 0
    """Accepted with edits."""
    rejected: int = 0

    @property
    def decided(self) -> int:
        """All decisions."""
        return self.accepted + self.edited + self.rejected

    @property
    def precision(self) -> float | None:
        """0–1; None with too few decisions."""
        return (self.accepted + self.edited) / self.decided if self.decided >= MIN_DECISIONS else None

    def add(self, verb: str, times: int) -> None:
        """Count decisions of one kind."""
        match verb:
            case ReviewAction.Verb.REJECT:
                self.rejected += times
            case ReviewAction.Verb.EDIT:
                self.edited += times
            case _:
                self.accepted += times


def precision_of(user: User) -> dict[str, Tally]:
    """The tally of every subject. One statement."""
    return tally_decisions(_counts(user))


def tally_decisions(counts: Iterable[tuple[str, str, str | None, int]]) -> dict[str, Tally]:
    """By subject, from (kind, verb, the proposal's reason, count).

    A proposal about health or another person counts for that subject and for its kind.
    """
    tallies = {subject: Tally() for subject in SUBJECTS}
    for kind, verb, reason, times in counts:
        for subject in {kind, BY_REASON.get(reason or "", kind)}:
            tallies[subject].add(verb, times)
    return tallies


def _counts(user: User) -> Iterable[tuple[str, str, str | None, int]]:
    latest = (
        ReviewAction.objects.for_user(user).filter(undone_at=None).order_by("fact", "-pk").distinct("fact").values("pk")
    )
    # The decision stores the proposal's reason; accepting it overwrote the one in the fact.
    waited = Func(
        F("before"),
        Cast("fact_id", TextField()),
        Value("reason"),
        function="jsonb_extract_path_text",
        output_field=TextField(),
    )
    decided = ReviewAction.objects.filter(pk__in=latest).annotate(waited=waited)
    return decided.values_list("fact__kind", "verb", "waited").annotate(times=Count("pk")).order_by()
