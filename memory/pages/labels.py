"""Certainty, freshness and origin of a fact in words. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from memory.librarian.remember import REASON
from memory.models import Fact
from memory.retrieval.decay import decay

SURENESS: Final = (
    (0.95, "certain"),
    (0.8, "quite sure"),  # from here on the librarian saves automatically (memory/librarian/decision.py)
    (0.6, "fairly sure"),
    (0.0, "not sure"),
)
"""Minimum confidence of each word."""
FRESHNESS: Final = (
    (0.75, "fresh"),
    (0.4, "fading"),
    (0.0, "faint"),
)
"""Minimum decay of each word; at .5 a memory has lost half of its weight (memory/retrieval/decay.py)."""
NEVER_FADES: Final = "never fades"
SOURCES: Final = {
    Fact.Source.STATED: "You said so",
    Fact.Source.EDITED: "Your own wording",
    Fact.Source.IMPORTED: "Imported",
    Fact.Source.INFERRED: "Inferred from what you said",
}


ASKED: Final = "Recall was asked to remember it"
"""Not “you asked”: a document may have asked, too."""
STATUS_MEANS: Final = {
    Fact.Status.PROPOSED: "Waiting for your review. Until then answers don't use it as a fact.",
    Fact.Status.REJECTED: "Rejected. Answers don't use it, and the words it came from don't bring it back.",
    Fact.Status.SUPERSEDED: "No longer true. Answers don't use it.",
    Fact.Status.EXPIRED: "No longer true, or in the past. Answers don't use it.",
    Fact.Status.ARCHIVED: "Faded. It can still be found, and comes back when it's used.",
}
"""What a status means for answers."""
MESSAGE_REMAINS: Final = "Waiting for your review. Until then answers may recall your message, but not as a fact."
"""The same for a proposal whose message is still there."""


def sureness(confidence: float) -> str:
    """A confidence 0–1 in words."""
    return _word(SURENESS, confidence)


def freshness(fact: Fact, now: datetime) -> str:
    """The freshness of a fact in words, by the same rule that archives it."""
    if fact.status == Fact.Status.ARCHIVED:
        return "faded"
    is_confirmed = fact.source in (Fact.Source.STATED, Fact.Source.EDITED) or fact.accepted_at is not None
    if fact.key or is_confirmed:
        return NEVER_FADES
    return _word(FRESHNESS, decay(now - (fact.last_used_at or fact.recorded_at), fact.times_used))


def status_means(fact: Fact) -> str:
    """What the fact's status means for answers; empty: it is used, which the page says otherwise."""
    if fact.status == Fact.Status.PROPOSED and fact.message_id is not None:
        return MESSAGE_REMAINS
    return STATUS_MEANS.get(Fact.Status(fact.status), "")


def reason(fact: Fact) -> str:
    """Why it was saved or needs review; empty if its source says the same."""
    says_more = fact.reason.casefold() != SOURCES[Fact.Source(fact.source)].casefold()
    return said_reason(fact.reason) if says_more else ""


def said_reason(stored: str) -> str:
    """A stored reason as its user reads it."""
    return ASKED if stored == REASON else stored.replace("superseded", "replaced")


def _word(scale: Sequence[tuple[float, str]], value: float) -> str:
    return next((word for least, word in scale if value >= least), scale[-1][1])
