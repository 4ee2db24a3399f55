"""The values of a turn that all of chat's packages share: what was accepted, what is withheld, how the model's run
went.

Knows only rows and budget's pieces; reads and writes nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from budget.planning.fit import Cut, Piece
from chat.models import Conversation, Message
from recall.llm.failures import Failure

MAX_ROUNDS: Final = 8
"""Tool rounds a turn may take (DESIGN §4); the request after the last one may not call a tool."""
MESSAGE_TOO_LONG: Final = "message_too_long"
"""Code of a rejection that storing the message as a document may resolve (`chat/turns/oversized_message.py`)."""
BESIDE: Final = "beside"
"""Key in the event data of a trial (an answer without some memories): id of the answer it is compared with."""
HIDDEN: Final = "[left out]"
"""Replaces an excluded memory's words in texts that stay: history, summaries, tool results."""


class TurnRejectedError(Exception):
    """A message that wasn't accepted; nothing was saved. `code` is one of docs/protocol.md."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The memories withheld from one answer (`chat/prompt/ablation.py`)."""

    cuts: tuple[Cut, ...] = ()
    """The named memories, as the first answer's prompt had them, cut at the user's request."""
    carriers: frozenset[str] = frozenset()
    """References that repeat them: the fact behind a line, a fact's message, the episodes that mention it."""
    words: re.Pattern[str] | None = None
    requests: tuple[int, ...] = ()
    """Ids of the messages that asked to forget some of them (`chat/prompt/forgotten_topics.py`)."""

    def and_also(self, other: "Exclusion") -> "Exclusion":
        """Both exclusions combined."""
        patterns = [each.words.pattern for each in (self, other) if each.words is not None]
        return Exclusion(
            (*self.cuts, *other.cuts),
            self.carriers | other.carriers,
            re.compile("|".join(patterns), re.IGNORECASE) if patterns else None,
            (*self.requests, *other.requests),
        )

    @property
    def refs(self) -> frozenset[str]:
        """Everything that may not be recalled."""
        return self.carriers | {cut.piece.ref for cut in self.cuts}

    def occurs_in(self, text: str) -> bool:
        """Whether the text contains the words of one of them."""
        return self.words is not None and self.words.search(text) is not None

    def hide_in(self, value: Any) -> Any:
        """The text without those words; also applied to texts in lists and objects."""
        match value:
            case str() if self.words is not None:
                return self.words.sub(HIDDEN, value)
            case dict():
                return {name: self.hide_in(item) for name, item in value.items()}
            case list():
                return [self.hide_in(item) for item in value]
        return value


NO_EXCLUSION: Final = Exclusion()
WITHHOLDS: Final = "withholds"
"""Key in the event data of a message that asks to forget: references of what it names, which prompts are built
without."""


@dataclass(frozen=True, slots=True)
class AcceptedTurn:
    """The saved question and the empty answer to be written."""

    conversation: Conversation
    question: Message
    answer: Message
    created: bool
    """Whether the conversation is new."""
    is_duplicate: bool
    """Whether this message had been accepted before; then nothing was done again."""
    exclusion: Exclusion = NO_EXCLUSION
    """What the answer must do without; it is then a trial next to the answer on the branch."""

    @property
    def is_trial(self) -> bool:
        """Whether the answer is only tried: it is not part of the conversation until the user chooses it."""
        return BESIDE in self.answer.event_data


@dataclass(slots=True)
class ToolUse:
    """One tool call and its result, in the stored form."""

    id: str
    name: str
    input: dict[str, Any]
    result: str = ""
    is_error: bool = False
    kept_at: str = ""
    """Path of the document with the whole result, if there is one."""


@dataclass(slots=True)
class RoundUsage:
    """The provider's figures for one request, in tokens; `final` is False if the final usage event never came."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    final: bool = False
    predicted: int = 0
    """Input tokens that Recall expected."""

    @property
    def total_input(self) -> int:
        """All input tokens, cached or not."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h


@dataclass(slots=True)
class AgentRun:
    """The agent loop so far: filled as events arrive, so that a stopped turn keeps everything up to that point."""

    rounds: list[RoundUsage] = field(default_factory=list)
    tools: list[ToolUse] = field(default_factory=list)
    stop_reason: str = ""
    failure: Failure | None = None
    expected_input_tokens: int = 0
    """Expected input tokens of the next request."""
    task: Sequence[Piece | Cut] = ()
    """Pieces the tool rounds added to the prompt, and those that were cut."""
    requested_at: float = 0.0
    """`time.monotonic()` of the first request."""
    first_token: float | None = None
    """Milliseconds from the first request to the first text."""
    thought: float | None = None
    """Seconds the model spent thinking, as far as seen; None: none."""
    thinking: str = ""
    """What it thought, as shown to the user. The provider's own blocks are sent back, never this text."""
