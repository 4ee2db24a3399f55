"""Judgment of an answer and its prompt: pure functions that return each failure as a short sentence."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from chat.evaluation.cases import FactRule, Probe, found

CURRENT: Final = frozenset({"", "current"})
"""Qualifiers that assert: a memory without a qualifier counts as true now."""
PAST_WORDS: Final = (
    "until|used to|no longer|not|n't|any ?more|formerly|previously|was|were|had|lived|worked|stopped|quit|left|sold|"
    "instead of|moved from|ex-?"
)
"""Words by which a text says that something isn't so, or no longer."""
OVER: Final = re.compile(r"\bused to [^.!?\n]*")
"""What an answer only says of the past; these words alone leave no doubt about that."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One line or memory of a prompt."""

    place: str
    """`profile`, `memory`, `history`, `clock` or `other`."""
    text: str
    qualifier: str | None = None
    """Qualifier of a memory; None: it has none."""

    def asserts(self, pattern: str, replaced_by: Sequence[str]) -> bool:
        """Whether it states what `pattern` matches, without any sign that this is over; the clock states nothing."""
        if self.place == "clock" or not found(pattern, self.text) or (self.qualifier or "") not in CURRENT:
            return False
        return not found(PAST_WORDS, self.text) and not any(found(new, self.text) for new in replaced_by)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, with the prompt it was generated from."""

    answer: str
    units: tuple[Unit, ...]

    @property
    def prompt(self) -> str:
        """Everything in the prompt that is about the user, except the question."""
        return "\n".join(unit.text for unit in self.units)

    @property
    def memories(self) -> list[Unit]:
        """The recalled memories."""
        return [unit for unit in self.units if unit.place == "memory"]


def read_prompt(request: Mapping[str, Any]) -> tuple[Unit, ...]:
    """The parts of a request that say something about the user: all but the system prompt and the question."""
    *past, last = request["messages"]
    units = [Unit("profile", line) for block in request["system"][1:] for line in block["text"].splitlines()]
    units += [Unit("history", text) for message in past for text in _texts(message["content"])]
    for text in _texts(last["content"])[:-1]:
        units += _context(text)
    return tuple(units)


def _texts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [block["text"] for block in content if block["type"] == "text"]


def _context(text: str) -> Iterator[Unit]:
    try:
        recalled = json.loads(text)
    except ValueError:
        recalled = None
    if not isinstance(recalled, dict) or "recalled_memories" not in recalled:
        yield Unit("clock", text)
        return
    for memory in recalled["recalled_memories"]:
        memory_text = " ".join(filter(None, (memory.get("title"), memory["text"])))
        yield Unit("memory", memory_text, memory.get("qualifier"))
    for line in recalled.get("profile_update", ()):
        yield Unit("profile", line)


def judge(probe: Probe, reply: Reply) -> list[str]:
    """The failures; empty: none."""
    wrong = [f"answer lacks “{one}”" for one in (*probe.must, *probe.answer_must) if not found(one, reply.answer)]
    wrong += [f"prompt lacks “{one}”" for one in (*probe.must, *probe.prompt_must) if not found(one, reply.prompt)]
    for one in (*probe.must_not, *probe.answer_must_not, *probe.absent):
        if found(one, reply.answer if one in probe.absent else OVER.sub("", reply.answer)):
            wrong.append(f"answer has “{one}”")
    for one in probe.must_not:
        for unit in reply.units:
            if unit.asserts(one, (*probe.must, *probe.answer_must)):
                wrong.append(f"prompt asserts “{one}”: {unit.place}: {unit.text[:200]}")
    wrong += [f"prompt has “{one}”" for one in probe.absent if found(one, reply.prompt)]
    if probe.silent and reply.memories:
        wrong.append(f"recalled {len(reply.memories)}: {reply.memories[0].text[:90]}")
    return wrong


def judge_facts(rule: FactRule, statements: Sequence[str]) -> list[str]:
    """The failures in what was learned. `statements`: of the facts that are active or waiting."""
    counted = [statement for statement in statements if not rule.of or found(rule.of, statement)]
    wrong = [f"learned “{statement}”" for statement in statements for pattern in rule.none if found(pattern, statement)]
    if rule.max is not None and len(counted) > rule.max:
        wrong.append(f"learned {len(counted)}, at most {rule.max}: {' | '.join(counted)}")
    if len(counted) < rule.min:
        wrong.append(f"learned {len(counted)}, at least {rule.min}: {' | '.join(counted)}")
    return wrong
