"""What does the model get to see? Gather what is known, weigh it in tokens, fit it into the plan, render it."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings

from accounts.models import User
from budget.counting import TextClass, classify, estimate
from budget.fit import Cut, Fitted, Piece, fit
from budget.plan import Section
from chat.blueprint import BLUEPRINT
from chat.gathering import Known, gather
from chat.opening import Opened, Refused
from chat.person import clock_lines
from chat.request import FRAME, Contents, Recalled, Settings, build, digest
from chat.tools import TOOLS
from memory.retrieval import MemoryItem
from memory.source import source
from recall.tokens import count

IN_THE_WINDOW: Final = "already in the window"
"""Rule: what was said in a turn that stands in this very prompt is not recalled again (DESIGN §4)."""
CANDIDATES_KEPT: Final = 40
"""Of the candidates that retrieval left out, the receipt lists so many, the best: the legs bring up four times as many,
most of them far below the floor, and each costs half a kilobyte of every receipt."""
LABEL_CHARS: Final = 200
ALWAYS: Final = 1.0
"""Score of a profile update: it corrects what the model would else believe."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A piece with its text, its class and its base count."""

    piece: Piece
    text: str
    kind: TextClass
    base: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """A prompt that is ready to be sent, and all that its receipt needs to know."""

    known: Known
    fitted: Fitted
    not_taken: tuple[Cut, ...]
    request: dict[str, Any]
    digest: str
    base_by_class: dict[TextClass, int]
    timings: dict[str, float]

    @property
    def cached(self) -> bool:
        """Whether the request carries cache breakpoints."""
        return self.known.able.caching

    @property
    def used_refs(self) -> list[str]:
        """What memories stand in the prompt."""
        return [p.ref for p in self.fitted.kept if p.section in (Section.MEMORIES, Section.PROFILE)]


def compile_context(opened: Opened) -> Compiled:
    """From a committed question to a request that fits.

    Raises:
        Refused: the message is too long for the plan.
    """
    began = time.perf_counter()
    known = gather(opened)
    weighed = list(weigh(known))
    fitted = fit([one.piece for one in weighed], known.plan, known.already_cut)
    if fitted.refused is not None:
        raise Refused("too_long", fitted.refused)
    kept = {piece.ref for piece in fitted.kept}
    request = build(_contents(known, kept, fitted), _settings(known))
    return Compiled(
        known=known,
        fitted=fitted,
        not_taken=tuple(_not_taken(known)),
        request=request,
        digest=digest(request),
        base_by_class=_by_class([one for one in weighed if one.piece.ref in kept]),
        timings={**known.timings, "compile": round((time.perf_counter() - began) * 1000, 2)},
    )


# Weighing: every piece that could stand in the prompt, in tokens -------------------------------------------------


def weigh(known: Known) -> Iterator[Weighed]:
    """Every candidate piece, section by section."""
    scale = _Scale(known.ratios)
    yield from scale.fixed(Section.BLUEPRINT, {"blueprint": BLUEPRINT, "tools": TOOLS_JSON, "frame": FRAME})
    for boundary in known.boundaries:
        yield scale.put(Section.BOUNDARIES, f"boundary:{boundary.pk}", boundary.text)
    if known.role is not None:
        yield scale.put(Section.ROLE, f"role:{known.role.pk}", known.role.instructions, label=known.role.name)
    yield from _profile(known, scale)
    for turn in known.turns:
        for message in (turn.question, turn.answer):
            ref = f"message:{message.pk}"
            yield scale.put(Section.HISTORY, ref, message.text, base=message.tokens, turn=turn.number)
    yield from _memories(known, scale)
    yield scale.put(Section.CLOCK, "clock", _clock(known), label="Time, name and how well you know each other")
    yield scale.put(Section.MESSAGE, f"message:{known.question.pk}", known.question.text, base=known.question.tokens)


def _profile(known: Known, scale: _Scale) -> Iterator[Weighed]:
    for line in known.profile:
        today = known.importance.get(line.ref)
        importance = today.importance if today else 0.0
        is_fact = line.ref.startswith("fact:")
        url = _link(today.message_id) if today else ""
        yield scale.put(
            Section.PROFILE, line.ref, line.text, base=line.tokens, score=importance, guarded=is_fact, url=url
        )


def _memories(known: Known, scale: _Scale) -> Iterator[Weighed]:
    for number, line in enumerate(known.profile_update):
        yield scale.put(Section.MEMORIES, f"update:{number}", line, score=ALWAYS, guarded=True)
    for item in _recalled(known):
        shown = json.dumps(_as_told(item).as_json(), ensure_ascii=False)
        parts = {str(name): value for name, value in item.parts.items()}
        yield scale.put(
            Section.MEMORIES,
            item.ref,
            shown,
            label=item.text,
            score=item.score,
            parts=parts,
            url=_link(item.message_id),
        )


class _Scale:
    """Weighs texts with the model's learned ratios."""

    def __init__(self, ratios: Mapping[TextClass, float]) -> None:
        self._ratios = ratios

    def put(
        self, section: Section, ref: str, text: str, *, label: str = "", base: int | None = None, **more: Any
    ) -> Weighed:
        kind = classify(text)
        base = count(text) if base is None else base
        tokens = estimate({kind: base}, self._ratios)
        return Weighed(Piece(section, ref, (label or text)[:LABEL_CHARS], tokens, **more), text, kind, base)

    def fixed(self, section: Section, texts: Mapping[str, str]) -> Iterator[Weighed]:
        """Pieces that are named by what they are."""
        for ref, text in texts.items():
            yield self.put(section, ref, text, label=FIXED_LABELS[ref])


FIXED_LABELS: Final = {
    "blueprint": "Who Recall is and how it treats recalled data",
    "tools": "Definitions of the tools",
    "frame": "Headings between the sections",
}
TOOLS_JSON: Final = json.dumps(TOOLS, sort_keys=True)


# What becomes of the pieces --------------------------------------------------------------------------------------


def _recalled(known: Known) -> list[MemoryItem]:
    """The memories to be told: those whose words stand in the history anyway are left out."""
    shown = {turn.question.pk for turn in known.turns_shown}
    return [item for item in known.recollection.kept if item.message_id not in shown]


def _as_told(item: MemoryItem) -> Recalled:
    return Recalled(item.ref, item.source, item.when.date().isoformat(), item.text, item.said_by, item.title)


def _not_taken(known: Known) -> Iterator[Cut]:
    """What retrieval, or the window, left out before anything had to fit: each with the rule that says so."""
    told = {item.ref for item in _recalled(known)}
    left_out = [(one.item, str(one.rule)) for one in known.recollection.cut[:CANDIDATES_KEPT]]
    left_out += [(item, IN_THE_WINDOW) for item in known.recollection.kept if item.ref not in told]
    scale = _Scale(known.ratios)
    for item, rule in left_out:
        parts = {str(name): value for name, value in item.parts.items()}
        url = _link(item.message_id)
        weighed = scale.put(
            Section.MEMORIES, item.ref, item.text, base=item.tokens, score=item.score, parts=parts, url=url
        )
        yield Cut(weighed.piece, rule)


def _contents(known: Known, kept: set[str], fitted: Fitted) -> Contents:
    role = known.role
    return Contents(
        blueprint=BLUEPRINT,
        global_boundaries=[b.text for b in known.boundaries if b.user_id is None],
        own_boundaries=[b.text for b in known.boundaries if b.user_id is not None],
        role=role.instructions if role is not None and f"role:{role.pk}" in kept else "",
        profile=[line.text for line in known.profile if line.ref in kept],
        turns=[turn for turn in known.turns if fitted.cut_turns is None or turn.number not in fitted.cut_turns],
        cut_turns=fitted.cut_turns,
        recalled=[_as_told(item) for item in _recalled(known) if item.ref in kept],
        profile_update=[line for n, line in enumerate(known.profile_update) if f"update:{n}" in kept],
        clock=_clock(known),
        message=known.question.text,
    )


def _settings(known: Known) -> Settings:
    return Settings(
        model=known.model,
        effort=known.effort,
        max_tokens=min(known.plan.output_reserve, known.able.max_output),
        ttl=settings.ENVIRONMENT.cache_ttl,
        able=known.able,
        person=opaque_name(known.user),
    )


def opaque_name(user: User) -> str:
    """What the provider may call the person: it tells nothing, and is always the same."""
    key = settings.SECRET_KEY.encode()
    return hmac.new(key, f"provider user {user.pk}".encode(), hashlib.sha256).hexdigest()[:32]


def _clock(known: Known) -> str:
    return clock_lines(known.user, known.acquaintance, known.now)


def _by_class(weighed: list[Weighed]) -> dict[TextClass, int]:
    total: dict[TextClass, int] = {}
    for one in weighed:
        total[one.kind] = total.get(one.kind, 0) + one.base
    return total


def _link(message_id: int | None) -> str:
    return source().link(message_id) if message_id is not None else ""
