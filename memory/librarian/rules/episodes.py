"""Finds the episode in a range of conversation by rules, in English: one, or none.

The user says that something was decided, solved, finished, found or given up: that sentence names the episode, in
their own words, and what they wrote just before tells what led to it. A wish, a question or a supposition names none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.librarian.engine import MAX_TAG, ProposedEpisode
from memory.librarian.rules.clauses import Clause, clauses
from memory.models.kinds import EpisodeKind, EpisodeOutcome
from memory.ports.source import Utterance
from memory.text import keywords
from memory.text.secrets_filter import sensitive
from memory.text.user_text import mask_foreign_text

_WE: Final = (
    r"(?:so |then |and |ok |okay |well )?(?:i|we)(?:'ve| have| had)?"
    r"(?: just| now| finally| also| both| all| eventually)*"
)


@dataclass(frozen=True, slots=True)
class Cue:
    """How a clause begins that makes a stretch an episode."""

    kind: EpisodeKind
    says: str
    significance: float
    outcome: EpisodeOutcome = EpisodeOutcome.NONE


CUES: Final = (
    Cue(
        EpisodeKind.DECISION_MADE,
        rf"{_WE} (?:decided|chose|agreed|settled on|went with|made up (?:my|our) minds?|made (?:a|the) decision)\b",
        0.6,
        EpisodeOutcome.SUCCESS,
    ),
    Cue(
        EpisodeKind.BREAKTHROUGH,
        rf"{_WE} (?:cracked it|had a breakthrough)\b|(?:i|we) (?:finally|now) (?:understand|understood|get it)\b"
        r"|(?:it|everything) (?:finally |suddenly )?(?:clicked|makes sense now|all makes sense)\b",
        0.6,
        EpisodeOutcome.SUCCESS,
    ),
    Cue(
        EpisodeKind.PROBLEM_SOLVED,
        rf"{_WE} (?:fixed|solved|resolved|sorted (?:it|that|this)|figured (?:it|that|this) out"
        r"|got (?:it|that|this) (?:to work|working))\b"
        r"|(?:it|that|this|everything) (?:works|worked|is (?:fixed|solved|working))(?: now| again| at last)?$",
        0.5,
        EpisodeOutcome.SUCCESS,
    ),
    Cue(
        EpisodeKind.TASK_COMPLETED,
        rf"{_WE} (?:finished|completed|submitted|handed in|shipped|launched|published|delivered|graduated|moved in"
        r"|passed (?:my|the|our) (?:[\w-]+ ){0,3}(?:exams?|finals|test|audition|interview|audit|course))\b",
        0.5,
        EpisodeOutcome.SUCCESS,
    ),
    Cue(
        EpisodeKind.PIVOT,
        rf"{_WE} (?:changed (?:my|our) minds?|gave up|dropped (?:out|the (?:idea|plan|project))|cancelled"
        r"|started over|switched (?:from|to)|abandoned)\b"
        r"|(?:there's been |there was )?a change of plans?\b",
        0.5,
    ),
    Cue(
        EpisodeKind.ISSUE_IDENTIFIED,
        rf"{_WE} (?:found (?:the|a) (?:bug|problem|issue|cause|mistake|leak|error)|discovered that)\b"
        r"|it turns out\b|the (?:problem|cause|issue|bug) (?:is|was) (?:that|in|with)\b",
        0.5,
        EpisodeOutcome.PARTIAL,
    ),
)
"""In the order in which they count where a stretch has several; of one kind the latest. None is .7 or more: that
something will still be told in a year is for a model, or the user, to say."""
_SAYS: Final = tuple((cue, re.compile(rf"(?:{cue.says})", re.IGNORECASE)) for cue in CUES)
TONES: Final = (
    ("relieved", 0.6, "relieved"),
    ("happy", 0.8, "happy|glad|delighted|thrilled|excited|proud|over the moon"),
    ("frustrated", -0.6, "frustrated|annoyed|fed up|angry"),
    ("sad", -0.7, "sad|heartbroken|devastated"),
    ("worried", -0.5, "worried|anxious|nervous|afraid|scared|stressed"),
)
"""Mood in a word, how good it is for the user, and the words that say it; the first that is said."""
_FEELS: Final = (
    r"\b(?:i|we)(?:['’]m|['’]re| am| are| was| were| feel| felt| got)(?: (?:so|very|really|just|a bit|now|both))*"
)
_TONES: Final = tuple(
    (tone, valence, re.compile(rf"{_FEELS} (?:{words})\b", re.IGNORECASE)) for tone, valence, words in TONES
)
"""Only what the user says of themselves: “a sad song” and “happy birthday” are no mood of theirs."""
_LONG_AGO: Final = re.compile(
    r"\b(?:(?:in|since) (?:19|20)\d\d|last year|years ago|back in|when i was|as a (?:child|kid|student))\b",
    re.IGNORECASE,
)
"""What is told of the past is a fact; an episode is what happens while they talk."""
LEAST_TURNS: Final = 2
"""An exchange by itself is a fact or two, no stretch."""
LEAST_WORDS: Final = 4
"""“I decided.” tells nothing by itself."""
BEFORE: Final = 2
"""User messages before the one that names the episode that belong to it."""
MAX_QUOTE: Final = 300
MAX_TOPICS: Final = 5
MAX_TITLE: Final = 80
"""Characters."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The clause that names an episode."""

    cue: Cue
    said: Utterance
    clause: Clause


def episode_in(utterances: Sequence[Utterance], names: Sequence[str] = ()) -> ProposedEpisode | None:
    """The episode of this stretch. `names`: of people the stretch tells of."""
    mine = [said for said in utterances if said.speaker == "user"]
    if len(mine) < LEAST_TURNS:
        return None
    found = list(_found(mine))
    if not found:
        return None
    order = list(CUES)
    best = min(reversed(found), key=lambda one: order.index(one.cue))
    return _told(best, mine, utterances, names)


def _found(mine: Sequence[Utterance]) -> Iterator[_Found]:
    for said in mine:
        for clause in clauses(said.text, said.echoes):
            if clause.hypothetical or clause.reported or clause.hedged or len(clause.text.split()) < LEAST_WORDS:
                continue
            if _LONG_AGO.search(clause.text):
                continue
            told = (clause.text, _opened(said.text, clause))
            cue = next((cue for cue, says in _SAYS if any(map(says.match, told))), None)
            if cue is not None and not sensitive(said.text[clause.start : clause.end]):
                yield _Found(cue, said, clause)


def _opened(text: str, clause: Clause) -> str:
    """The clause with what opens its sentence, such as “it turns out”, which is no part of what is claimed."""
    begins = max(text.rfind(mark, 0, clause.start) for mark in ".!?\n") + 1
    return text[begins : clause.end].strip()


def _told(
    found: _Found, mine: Sequence[Utterance], all_said: Sequence[Utterance], names: Sequence[str]
) -> ProposedEpisode:
    at = mine.index(found.said)
    before = mine[max(0, at - BEFORE) : at]
    words = _quote(found.said.text[found.clause.start : found.clause.end]).rstrip(" .!,;")
    tone, valence = _tone(mask_foreign_text(found.said.text, found.said.echoes))
    led_to_it = [said for said in before if _led_to(said.text, words)]
    context = _quote(led_to_it[0].text) if led_to_it else ""
    after = next((said for said in all_said if said.number > found.said.number and said.speaker == "assistant"), None)
    text = " ".join(said.text for said in (*led_to_it, found.said))
    return ProposedEpisode(
        kind=found.cue.kind,
        title=_title(words),
        summary=f"The user wrote: “{words}”",
        first=(led_to_it[0] if led_to_it else found.said).number,
        last=(after or found.said).number,
        significance=found.cue.significance,
        context=f"Before, the user wrote: “{context}”" if context else "",
        participants=tuple(dict.fromkeys(name for name in names if re.search(rf"\b{re.escape(name)}\b", text)))[:20],
        outcome=found.cue.outcome,
        tone=tone,
        valence=valence,
        topics=tuple(sorted(name for name in keywords.names(words) if len(name) <= MAX_TAG))[:MAX_TOPICS],
    )


def _led_to(text: str, words: str) -> bool:
    """Whether an earlier message is about the same: it shares a word that carries what is said."""
    return bool(keywords.content(text) & keywords.content(words)) and not sensitive(text)


def _tone(text: str) -> tuple[str, float]:
    """Mood and how good it is; a mood that is denied (“I'm not happy”) is none."""
    return next(((tone, valence) for tone, valence, says in _TONES if says.search(text)), ("", 0.0))


def _quote(text: str) -> str:
    """A user's words on one line, their beginning where they are long."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTE else f"{line[: MAX_QUOTE - 1].rsplit(' ', 1)[0]}…"


def _title(words: str) -> str:
    """“we finally decided to move to Porto” → “Decided to move to Porto”"""
    bare = re.sub(rf"^{_WE} ", "", words, flags=re.IGNORECASE).rstrip(" .!,;")
    title = bare if len(bare) <= MAX_TITLE else f"{bare[: MAX_TITLE - 1].rsplit(' ', 1)[0]}…"
    return title[:1].upper() + title[1:]
