"""Talks: people, what is known of them, and what each message that they write next changes of it.

A line says what it is: `person:` starts a talk, `fact:` is known from here on, `message:` is written by the user, and
`said:` is, too, and known in these words from then on. Below a message are the facts and the earlier messages that it
changes, all others hold: `ended:` and `wrong:` with the fact, `replaced:` with the words that no longer hold in
brackets and the words of the message that take their place: `replaced: The user lives in [Leeds]. => Whitby`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from memory.embeddings.port import embedder
from memory.speech_acts.made_up import omit_rule
from memory.updates.labeled import LabeledPair, read_labeled
from memory.updates.pairs import pair_of

NEAREST: Final = 3
"""Facts nearest in meaning that hold, of which a message teaches that they do."""
OTHERS: Final = 1
"""Further facts that hold, chosen by chance: most of what is known has nothing to do with a message."""
_REPLACED: Final = re.compile(r"(.*\[.+\].*) => (.+)")


@dataclass(slots=True)
class TalkMessage:
    """A message, the facts and earlier messages known before it, and the pairs of it and those that it changes."""

    message: str
    facts: list[str]
    earlier: list[str]
    changed: list[LabeledPair]
    is_remembered: bool = False
    """Whether later messages can change it."""

    def labeled(self, chance: Random) -> Iterator[LabeledPair]:
        """Pairs to learn from: what it changes, and some of what it doesn't."""
        yield from self.changed
        changed = {pair.pair.fact for pair in self.changed}
        known = [*self.facts, *(text for text in self.earlier if not omit_rule(text))]
        hold = [text for text in known if text not in changed]
        vector, *vectors = embedder().embed([self.message, *hold])
        nearness = {fact: float(vector @ other) for fact, other in zip(hold, vectors, strict=True)}
        hold.sort(key=lambda fact: -nearness[fact])
        for fact in (*hold[:NEAREST], *chance.sample(hold[NEAREST:], min(OTHERS, len(hold[NEAREST:])))):
            yield LabeledPair(pair_of(fact, self.message), "holds", ())


def read_talks(text: str) -> list[list[TalkMessage]]:
    """The talks of a file.

    Raises:
        ValueError: a line is none of a talk's, or changes what isn't known.
    """
    talks: list[list[TalkMessage]] = []
    facts: list[str] = []
    earlier: list[str] = []
    changed: set[str] = set()
    for line in filter(str.strip, text.splitlines()):
        kind, _, rest = line.partition(": ")
        if kind == "person":
            talks.append([])
            facts, earlier, changed = [], [], set()
        elif kind == "fact":
            facts.append(rest)
        elif kind in ("message", "said"):
            before = talks[-1][-1] if talks[-1] else None
            if before is not None and before.is_remembered:
                earlier.append(before.message)
            talks[-1].append(TalkMessage(rest, list(facts), list(earlier), [], kind == "said"))
        elif kind in ("ended", "wrong", "replaced"):
            pair = _changed(kind, rest, talks[-1][-1].message)
            if pair.pair.fact in facts:
                facts[facts.index(pair.pair.fact)] = pair.updated
                facts = [fact for fact in facts if fact]
            elif pair.pair.fact in earlier:  # and what else it says can change later
                earlier.remove(pair.pair.fact)
                changed.add(pair.pair.fact)
            elif pair.pair.fact not in changed:
                raise ValueError(f"This isn't known here: {line}")
            talks[-1][-1].changed.append(pair)
        else:
            raise ValueError(f"This is no line of a talk: {line}")
    return talks


def _changed(outcome: str, rest: str, message: str) -> LabeledPair:
    """A line below a message as a labeled pair."""
    if outcome != "replaced":
        return read_labeled(f"{outcome}\t{rest}\t{message}")
    found = _REPLACED.fullmatch(rest)
    if found is None or found[2] not in message:
        raise ValueError(f"A replaced fact has its old words in brackets and new ones of the message: {rest}")
    return read_labeled(f"{outcome}\t{found[1]}\t{message.replace(found[2], f'{{{found[2]}}}', 1)}")
