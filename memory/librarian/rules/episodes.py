"""Finds the episode and the stories in a range of conversation by rules, in English: rather none than a wrong one.

The user says that something was decided, solved, finished, found or given up: that sentence names the episode, in
their own words, and what they wrote just before tells what led to it. A story is announced (“let me tell you what
happened”); its own words are kept, up to where the user turns back to the assistant. The rest is for a model to say.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

from memory.librarian.engine import MAX_NAME, MAX_TAG, ProposedEpisode, ProposedStory
from memory.librarian.rules.clauses import MAX_MESSAGE, Clause, Sentence, clauses, is_past, own_words, sentences
from memory.models.kinds import EpisodeKind, EpisodeOutcome
from memory.ports.source import Utterance
from memory.secrets.secrets_filter import sensitive
from memory.text import keywords
from memory.text.dates import find_date
from memory.text.language import alternatives, is_english
from memory.text.relations import PEOPLE

_WE: Final = (
    r"(?:so |then |and |ok |okay |well )?(?:i|we)(?:'ve| have| had)?"
    r"(?: just| now| finally| also| both| all| eventually)*"
)


@dataclass(frozen=True, slots=True)
class Cue:
    """How a clause begins that makes a stretch an episode."""

    kind: EpisodeKind
    significance: float
    outcome: EpisodeOutcome
    says: re.Pattern[str]


def _cue(kind: EpisodeKind, significance: float, outcome: EpisodeOutcome, *says: str) -> Cue:
    return Cue(kind, significance, outcome, re.compile(f"(?i){'|'.join(says)}"))


CUES: Final = (
    _cue(EpisodeKind.DECISION_MADE, 0.6, EpisodeOutcome.SUCCESS,
         rf"{_WE} (?:decided|chose|agreed|settled on|went with|made up (?:my|our) minds?|made (?:a|the) decision)\b"),
    _cue(EpisodeKind.BREAKTHROUGH, 0.6, EpisodeOutcome.SUCCESS,
         rf"{_WE} (?:cracked it|had a breakthrough)\b|(?:i|we) (?:finally|now) (?:understand|understood|get it)\b",
         r"(?:it|everything) (?:finally |suddenly )?(?:clicked|makes sense now|all makes sense)\b"),
    _cue(EpisodeKind.PROBLEM_SOLVED, 0.5, EpisodeOutcome.SUCCESS,
         rf"{_WE} (?:fixed|solved|resolved|sorted (?:it|that|this)|figured (?:it|that|this) out)\b",
         rf"{_WE} got (?:it|that|this) (?:to work|working)\b",
         r"(?:it|that|this|everything) (?:works|worked|is (?:fixed|solved|working))(?: now| again| at last)?$"),
    _cue(EpisodeKind.TASK_COMPLETED, 0.5, EpisodeOutcome.SUCCESS,
         rf"{_WE} (?:finished|completed|submitted|handed in|shipped|launched|published|delivered|graduated|moved in)\b",
         rf"{_WE} passed (?:my|the|our) (?:[\w-]+ ){{0,3}}(?:exams?|finals|test|audition|interview|audit|course)\b"),
    _cue(EpisodeKind.PIVOT, 0.5, EpisodeOutcome.NONE,
         rf"{_WE} (?:changed (?:my|our) minds?|gave up|dropped (?:out|the (?:idea|plan|project))|cancelled)\b",
         rf"{_WE} (?:started over|switched (?:from|to)|abandoned)\b|(?:there's been |there was )?a change of plans?\b"),
    _cue(EpisodeKind.ISSUE_IDENTIFIED, 0.5, EpisodeOutcome.PARTIAL,
         rf"{_WE} (?:found (?:the|a) (?:bug|problem|issue|cause|mistake|leak|error)|discovered that)\b",
         r"it turns out\b|the (?:problem|cause|issue|bug) (?:is|was) (?:that|in|with)\b"),
)  # fmt: skip
"""In the order in which they count where a stretch has several; of one kind the latest. None is .7 or more: that
something will still be told in a year is for a model, or the user, to say."""
_FEELS: Final = (
    r"(?i)\b(?:i|we)(?:'m|'re| am| are| was| were| feel| felt| got)(?: (?:so|very|really|just|a bit|now|both))*"
)
TONES: Final = tuple(
    (tone, valence, re.compile(rf"{_FEELS} (?:{words})\b"))
    for tone, valence, words in (
        ("relieved", 0.6, "relieved"),
        ("happy", 0.8, "happy|glad|delighted|thrilled|excited|proud|over the moon"),
        ("frustrated", -0.6, "frustrated|annoyed|fed up|angry"),
        ("sad", -0.7, "sad|heartbroken|devastated"),
        ("worried", -0.5, "worried|anxious|nervous|afraid|scared|stressed"),
    )
)
"""A mood, how good it is for the user, and the words by which they say it of themselves: “a sad song” is no mood."""
_LONG_AGO: Final = re.compile(
    r"(?i)\b(?:(?:in|since) (?:19|20)\d\d|last year|years ago|back in|when i was|as a (?:child|kid|student))\b"
)
"""What is told of the past is a fact; an episode is what happens while they talk."""
MIN_TURNS: Final = 2
"""An exchange by itself is a fact or two, no stretch."""
MIN_WORDS: Final = 4
"""“I decided.” tells nothing by itself."""
BEFORE: Final = 2
"""User messages before the one that names the episode that belong to it."""
MAX_QUOTE: Final = 300
MAX_TOPICS: Final = 5
MAX_TITLE: Final = 80
"""Characters."""


def episode_in(utterances: Sequence[Utterance], names: Sequence[str] = ()) -> ProposedEpisode | None:
    """The episode of this stretch. `names`: of people the stretch tells of."""
    messages = [said for said in utterances if said.speaker == "user"]
    if len(messages) < MIN_TURNS:
        return None
    found = list(_find_cues(messages))
    best = min(reversed(found), key=lambda one: CUES.index(one[0]), default=None)
    return _build_episode(*best, messages, utterances, names) if best else None


def _find_cues(messages: Sequence[Utterance]) -> Iterator[tuple[Cue, Utterance, str]]:
    """The clauses that name an episode, by what they say."""
    for said in messages:
        for clause in clauses(said.text, said.echoes):
            unsure = clause.hypothetical or clause.reported or clause.hedged
            if unsure or len(clause.text.split()) < MIN_WORDS or _LONG_AGO.search(clause.text):
                continue
            wordings, words = (clause.text, _opened(said.text, clause)), said.text[clause.start : clause.end]
            cue = next((cue for cue in CUES if any(map(cue.says.match, wordings))), None)
            if cue is not None and not sensitive(words):
                yield cue, said, _quote(words).rstrip(" .!,;")


def _opened(text: str, clause: Clause) -> str:
    """The clause with what opens its sentence, such as “it turns out”, which is no part of what is claimed."""
    begins = max(text.rfind(mark, 0, clause.start) for mark in ".!?\n") + 1
    return text[begins : clause.end].strip()


def _build_episode(
    cue: Cue,
    said: Utterance,
    words: str,
    messages: Sequence[Utterance],
    heard: Sequence[Utterance],
    names: Sequence[str],
) -> ProposedEpisode:
    at = messages.index(said)
    user_text = own_words(said.text, said.echoes)
    tone, valence = next(((tone, good) for tone, good, feels in TONES if feels.search(user_text)), ("", 0.0))
    led_to_it = [one for one in messages[max(0, at - BEFORE) : at] if _led_to(one.text, words)]
    context = _quote(led_to_it[0].text) if led_to_it else ""
    after = next((one for one in heard if one.number > said.number and one.speaker == "assistant"), said)
    text = " ".join(one.text for one in (*led_to_it, said))
    return ProposedEpisode(
        kind=cue.kind,
        title=_title(words),
        summary=f"The user wrote: “{words}”",
        first=(*led_to_it, said)[0].number,
        last=after.number,
        significance=cue.significance,
        context=f"Before, the user wrote: “{context}”" if context else "",
        participants=tuple(dict.fromkeys(name for name in names if re.search(rf"\b{re.escape(name)}\b", text)))[:20],
        outcome=cue.outcome,
        tone=tone,
        valence=valence,
        topics=tuple(sorted(name for name in keywords.names(words) if len(name) <= MAX_TAG))[:MAX_TOPICS],
    )


def _led_to(text: str, words: str) -> bool:
    """Whether an earlier message is about the same: it shares a word that carries what is said."""
    return bool(keywords.content(text) & keywords.content(words)) and not sensitive(text)


def _quote(text: str) -> str:
    """A user's words on one line, their beginning where they are long."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTE else f"{line[: MAX_QUOTE - 1].rsplit(' ', 1)[0]}…"


def _title(words: str) -> str:
    """“we finally decided to move to Porto” → “Decided to move to Porto”"""
    bare = re.sub(rf"^{_WE} ", "", words, flags=re.IGNORECASE).rstrip(" .!,;")
    title = bare if len(bare) <= MAX_TITLE else f"{bare[: MAX_TITLE - 1].rsplit(' ', 1)[0]}…"
    return title[:1].upper() + title[1:]


@dataclass(frozen=True, slots=True)
class Measure:
    """What a passage must have at least to count as a story."""

    words: int
    past: int
    """Sentences that tell of the past."""
    share: float
    """Of all its sentences, those."""


ANNOUNCED: Final = Measure(words=40, past=3, share=0.4)
"""“Let me tell you …” says so itself; three sentences make it more than a remark."""
UNANNOUNCED: Final = Measure(words=110, past=6, share=0.6)
"""Two paragraphs that mostly tell. A report on a bug or a meeting has the present in it."""
_ANNOUNCES: Final = re.compile(
    r"(?i)\b(?:let me tell you (?:a|the|my|about the (?:time|day)|what happened)|i(?:'ll| will| want to| wanted to|'d"
    r" like to) tell you (?:a|the|my) story|here(?:'s| is) (?:a|the|my) story|(?:true|funny|crazy|quick|long) story\b"
    r"|did i (?:ever )?tell you about|you won't believe what happened|something (?:\w+ )?happened (?:to (?:me|us)"
    r"|today|yesterday|last)|the (?:time|day) (?:that |when )?(?:i|we) )"
)
_MADE_UP: Final = re.compile(
    r"(?i)\b(?:write|invent|imagine|pretend|continue|improve|rewrite|edit|proofread|fictional|fiction|make up|once"
    r" upon a time|my (?:novel|character|protagonist|screenplay|essay|short story)|chapter \w+|dreamed|dreamt|in"
    r" (?:the|this) (?:book|film|movie|series|show|game|novel|play))\b"
)
_ONESELF: Final = re.compile(r"(?i)\b(?:i|me|my|we|us|our)\b")
_WORD: Final = re.compile(r"[A-Za-z']+")
_TO_THE_ASSISTANT: Final = re.compile(
    r"(?i)\s{0,3}(?:(?:so|anyway|ok|okay|now|and)[, ]{1,3}){0,4}(?:can|could|would|will|do|should) (?:you|i)\b"
    r"|\s{0,3}(?:please|what do you|how do you|any (?:ideas|advice)|anyway, )"
)
_NAMED: Final = re.compile(rf"\b(?i:my|our) (?:\w+ )?(?i:{alternatives(PEOPLE)}) ([A-ZÀ-ÞĀ-Ž][a-z]+)")
_LEAD_IN: Final = re.compile(r"(?i)^\s{0,3}(?:(?:so|well|ok|okay|hey|hi|oh)[,!.]{0,3}\s{1,3}){1,4}")
MAX_TITLE_WORDS: Final = 9
EDGE: Final = 60
"""Least characters of the first and last words by which a passage is named; so many that they name no other one."""


def stories_in(utterances: Sequence[Utterance], zone: ZoneInfo) -> list[ProposedStory]:
    """The stories that the user tells, at most one a message."""
    messages = (said for said in utterances if said.speaker == "user")
    return [story for said in messages if (story := _story(said, said.said_at.astimezone(zone).date())) is not None]


def _story(said: Utterance, today: date) -> ProposedStory | None:
    text = said.text[:MAX_MESSAGE]
    user_text = own_words(text, [(start, end) for start, end in said.echoes if end <= len(text)])
    if _MADE_UP.search(user_text) or "```" in text:
        return None
    lines = list(sentences(user_text))
    announced = next((n for n, one in enumerate(lines) if _ANNOUNCES.search(one.text)), None)
    lines = lines[announced or 0 :]
    while lines and _is_aside(lines[-1]):
        lines.pop()
    while lines and announced is None and _is_aside(lines[0]):
        lines.pop(0)
    if not _is_story(lines, UNANNOUNCED if announced is None else ANNOUNCED):
        return None
    title = lines[0 if announced is None or len(lines[0].text.split()) >= 2 * MAX_TITLE_WORDS else 1].text
    return _proposed(text[lines[0].start : lines[-1].end].strip(), said, text, today, title)


def _is_aside(sentence: Sentence) -> bool:
    """Said to the assistant, not told."""
    return sentence.asked or _TO_THE_ASSISTANT.match(sentence.text) is not None


def _is_story(lines: Sequence[Sentence], measure: Measure) -> bool:
    text = " ".join(one.text for one in lines)
    past = sum(any(map(is_past, _WORD.findall(one.text.lower()))) for one in lines)
    enough = past >= max(measure.past, measure.share * len(lines)) and len(text.split()) >= measure.words
    return enough and len(_ONESELF.findall(text)) >= measure.past and is_english(text)


def _proposed(passage: str, said: Utterance, text: str, today: date, begin: str) -> ProposedStory | None:
    start, lengths = text.find(passage), range(EDGE, len(passage))
    end = start + len(passage)
    begins = next((passage[:n] for n in lengths if text.find(passage[:n]) == start), passage)
    ends = next((passage[-n:] for n in lengths if text.find(passage[-n:], start) == end - n), passage)
    words = _LEAD_IN.sub("", begin, count=1).strip(' \t\n.!?"“”:;,').split()
    title = " ".join(words[:MAX_TITLE_WORDS]).rstrip(",;:") + "…" * (len(words) > MAX_TITLE_WORDS)
    if not words:
        return None
    found = find_date(passage, today, past=True)
    return ProposedStory(
        title=(title[:1].upper() + title[1:])[:MAX_NAME],
        number=said.number,
        begins=begins,
        ends=ends,
        people=tuple(name for name in dict.fromkeys(_NAMED.findall(passage)) if len(name) <= MAX_NAME),
        when=found.words[:MAX_NAME] if found is not None else "",
    )
