"""Reranks and deduplicates candidates. Pure: no database, no clock, no model.

`rerank` scores candidates by named parts and records the rule that cut each one left out. Two profiles of weights:
`MEASURED` (the default) and `SEED`.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Final, Literal

from memory.embeddings.limits import MINILM, MINILM_INT8
from memory.embeddings.scale import Scale
from memory.retrieval.attribution import MIN_MARGIN, attribution_margin
from memory.retrieval.cues import ENGLISH
from memory.retrieval.decay import decay
from memory.retrieval.query import Question, names_a_time, words_as_written, words_of
from memory.retrieval.question_kinds import KINDS, QuestionKind
from memory.retrieval.reading import (
    ANSWERED_FROM,
    AS_GOOD_ODDS,
    OVER_KEYED,
    READ,
    RECALLED_FROM,
    asks_before,
    is_far,
    odds,
)
from recall.environment import setting

Part = Literal[
    "semantic",
    "keyword",
    "name_match",
    "date_match",
    "time_match",
    "session",
    "answer",
    "own_words",
    "question",
    "recency",
    "importance",
    "access",
    "decay",
    "project",
    "opening",
    "keyed_answer",
    "cross_encoder",
    "read",
]
Rule = Literal[
    "below the floor",
    "said by others",
    "the same question",
    "archived",
    "already in the window",
    "near-duplicate",
    "beyond top-K",
    "over the token budget",
]
"""Rules of the ranking; those before it are in `memory/retrieval/truth.py`."""
Source = Literal["fact", "episode", "document", "message", "segment"]


@dataclass(frozen=True)
class RankingProfile:
    """Weights of the score parts. The total is Σ weight × part over the sum of the positive weights, boosted, 0–1."""

    name: str
    weights: Mapping[Part, float]
    """A part without a weight does not count. A negative weight is a penalty."""
    recent_boost: float
    """Factor for a memory younger than RECENT_DAYS."""
    boosts_recent: Literal["always", "asked"]
    """`asked`: only if the question asks for the latest state."""
    importance_boost: float
    """Gain of a memory of importance 1 over one of importance 0, as a share of the total."""
    chats: Mapping[Part, float] = field(default_factory=dict)
    """Weights that differ for users whose conversations have no other speakers."""
    kinds: Sequence[QuestionKind] = ()
    """Kinds of questions that are searched and ranked otherwise."""

    def for_question(self, kind: QuestionKind, *, is_chat: bool) -> "RankingProfile":
        """The profile with the weights of this kind of question, and of chats with the model alone."""
        other: dict[Part, float] = dict(self.chats) if is_chat else {}
        if kind.own_words is not None:
            other["own_words"] = kind.own_words
        return replace(self, weights={**self.weights, **other}) if other else self

    @cached_property
    def whole(self) -> float:
        """The score of a memory that is best in every part."""
        return sum(weight for weight in self.weights.values() if weight > 0)


MEASURED: Final = RankingProfile(
    name="measured",
    weights={
        # What each is worth: docs/retrieval.md, from `manage.py evaluate --ablation`.
        "keyword": 0.70,  # its own words, and for less its neighbors' (`Chunk.search`)
        "semantic": 0.40,
        "name_match": 0.20,  # said by who is named; vectors blur that
        "own_words": 0.20,  # users ask for what they said; answers are ten times as long
        "answer": 0.20,  # follows a matching question
        "date_match": 0.15,
        "session": 0.15,  # its session is about this
        "time_match": 0.10,  # names a time, and the question asks when
        "question": -0.05,  # a short question states nothing
        # Not included: recency (as a permanent term it costs 6 points; it breaks ties and serves questions for the
        # latest state), importance, access and decay (how much a memory matters, not whether it answers this).
    },
    recent_boost=setting("rag_recent_boost", 1.2),
    boosts_recent="asked",
    importance_boost=setting("rag_importance_boost", 0.0),
    # Long answers have more of a question's words by chance. A half of its weight finds 2.0 ± 1.7 and 2.2 ± 3.1 points
    # more in the chats (chosen on five, in the sixth), and 2.4 ± 1.3 and 1.9 ± 0.6 less in the dialogues.
    chats={"keyword": 0.35},
    kinds=KINDS,
)
"""The default. Tried without benefit: MaxSim over token vectors (0.7 points for 1 KB a passage), phrases, beginnings of
words, the number of words found, evidence from many sessions, “how many” against passages with a number, the length of
a passage, z-scores."""

SEED: Final = RankingProfile(
    name="seed",
    weights={  # seed 004, “Multi-Strategy Scoring”
        "semantic": setting("rag_weight_semantic", 0.4),
        "keyword": setting("rag_weight_keyword", 0.3),
        "recency": setting("rag_weight_recency", 0.2),
        "importance": setting("rag_weight_importance", 0.1),
        "access": setting("rag_weight_access", 0.0),
    },
    recent_boost=setting("rag_recent_boost", 1.2),  # seed 000
    boosts_recent="always",
    importance_boost=setting("rag_importance_boost", 0.1),  # seed 000, “by importance score”
)
"""The formula of seed 004, for comparison or by preference."""

PROFILES: Final[Mapping[str, RankingProfile]] = {profile.name: profile for profile in (MEASURED, SEED)}
DEFAULT_PROFILE: Final = PROFILES[setting("rag_ranking", "measured")]
"""Used for prompts and searches."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a cosine means for one embedding model."""

    unrelated: float
    """Typical cosine of a question and an unrelated text: `semantic` is 0."""
    close: float
    """Cosine at which a text is exactly what is asked: `semantic` is 1."""
    floor: float
    """Minimum cosine at which meaning alone recalls a statement."""
    related: float = -1.0
    """Minimum cosine of a passage of which few words are the question's."""
    answers: float = 2.0
    """Cosine from which the nearest memory most likely answers."""
    nearer: float = 0.15
    """How much higher a cosine must be than that of what has the key that is asked for: “which floor do I live on?”.
    Chosen on 240 scenarios that were read, like AS_GOOD and OVER_AS_GOOD."""


RELATED: Final = 0.10
"""`Calibration.related` of MiniLM: three of four memories that don't answer are below it, one of twenty that do."""
ANSWERS: Final = 0.30
"""`Calibration.answers` of MiniLM: the nearest of one question in twelve that nothing answers reaches it
(on the development questions; one in five on those run once)."""
CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    # Questions have vectors of their own (memory/query_encoder). For 144 of twelve people, by an author it hasn't
    # learned from, what answers has a cosine of .36 (median), .14 (lowest twentieth) to .56 (highest), all else .03,
    # 19 of 20 below .23. From .30 on the nearest is an answer four times of five. The seeds' 0.7 is for another model.
    name: Calibration(
        0.10, close=0.70, floor=setting("rag_similarity_threshold", 0.20), related=RELATED, answers=ANSWERS
    )
    for name in (MINILM_INT8, MINILM)
}
IN_LANGUAGE: Final[Mapping[str, Calibration]] = {
    # In another language the same model finds all texts alike. Of the development questions in
    # tests/memory/data/asked_*.ask the answer has a cosine of .34, .37 and .40 (median), all else .24, .32 and .34.
    # Statements recalled by meaning alone need the floor; without words, nothing says which of them answers. Share of
    # the answers that is recalled · silence where nothing answers, with the floor of .20 → this one, in percent:
    # German 71 · 8 → 71 · 38, Spanish 58 · 0 → 67 · 17, French 75 · 0 → 75 · 25. From .38 on answers are lost, too.
    # Higher floors for statements and passages, cross-validated for the sum of both shares, gain nothing:
    # German 71 · 38 → 54 · 38, Spanish 67 · 17 → 58 · 17; French moves 58 · 25 → 42 · 42.
    # The published model's vectors are no better for questions: the nearest memory answers 15 of 48, here 17.
    "german": Calibration(0.10, close=0.70, floor=setting("rag_similarity_threshold", 0.30), related=RELATED),
    "spanish": Calibration(0.10, close=0.70, floor=setting("rag_similarity_threshold", 0.35), related=RELATED),
    "french": Calibration(0.10, close=0.70, floor=setting("rag_similarity_threshold", 0.35), related=RELATED),
}
"""CALIBRATIONS of MiniLM for questions in other languages than English; one that wasn't measured has no entry."""


def calibrate(scale: Scale) -> Calibration:
    """What a cosine means for another model, in all languages: MiniLM's English calibration on that model's scale."""
    known = CALIBRATIONS[MINILM_INT8]
    return Calibration(
        scale.of(known.unrelated),
        close=scale.of(known.close),
        floor=scale.of(known.floor),
        related=scale.of(known.related),
        answers=scale.of(known.answers),
        nearer=scale.of(known.nearer) - scale.of(0.0),
    )


WORDS_FLOOR: Final = 0.3
"""Minimum `keyword` at which words alone recall a statement."""

STRONG: Final = setting("rag_relevance_threshold", 0.2)
WEAK: Final = 0.05
"""Passages are recalled if at least one is STRONG (`relevance`), and then all that are not below WEAK: an answer may
share no word with its question, but then the text around it does.
Values of STRONG: evidence is in the first 5 / 10 · something is recalled for questions about what was never said · for
60 unrelated messages:
none 85 / 92 % · 100 % · 100 %;  .20: 84 / 90 % · 99 % · 52 %;  .25: 81 / 87 % · 97 % · 42 %;
.30: 78 / 85 % · 91 % · 33 %;  .40: 68 / 74 % · 80 % · 28 %;  .50: 57 / 62 % · 65 % · 18 %.
What was never said resembles what was, so no floor separates them: .20 costs a point of what can be found, and half of
the unrelated messages recall nothing. A floor on each passage costs two to four points more.
An explicit search (by a tool or MCP) needs no STRONG passage: the caller sees the texts and can judge, and “nothing”
would be wrong if the best is a right answer in different words."""

ARCHIVED_FLOOR: Final = 0.5
"""Minimum `semantic` or `keyword` at which an archived memory is recalled: as close as a right statement usually is
(see
CALIBRATIONS), or most of the question's words."""

PROJECT_BOOST: Final = 0.75
"""In a project's conversation, words and meaning of the project's memories count this much more (part `project`): of
two similar matches the project's comes first, since “the plan” means the project's plan. An unrelated memory gains
nothing, so that a question about something else still finds its answer: with 1.0 a statement at a cosine of .40 would
come before one at .65, with 0.75 just behind it. Multiplying the whole score would lift every message of the user in
the project. No
floor is lowered. Reasoned, not measured: the public data has no projects."""

FITTING: Final[tuple[Part, ...]] = ("keyword", "semantic")
"""Parts that measure how relevant a memory is to the question."""

AS_GOOD: Final = 0.88
"""Share of the best score from which another memory is nearly as good."""
OVER_AS_GOOD: Final = 0.7
"""The same for what is over, when the past is asked: “did I smoke in 2023?” asks for more than “I quit in 2024”."""

TOP_K: Final = setting("rag_final_top_k", 5)
"""Maximum memories in one prompt (seeds 000 and 003)."""

CROSS_ENCODED: Final = 20
"""Candidates that a cross-encoder reads, if there is one (seed 003, “re-rank top 20”)."""

SAME_WORDS: Final = 0.8
"""Two statements that share this much of their words are duplicates, unless a name, a number or a “not” differs."""

RECENCY_HALF_LIFE_DAYS: Final = setting("decay_half_life_days", 30.0)
"""`recency` halves in this time (seed 004)."""
RECENT_DAYS: Final = setting("rag_recent_days", 7.0)
"""Maximum age for a profile's boost of recent memories (seed 000)."""
USES_THAT_COUNT: Final = 10
"""`access` is 1 from this many uses."""
_RECENT: Final = timedelta(days=RECENT_DAYS)
_RECENCY_HALF_LIFE: Final = timedelta(days=RECENCY_HALF_LIFE_DAYS)
_NOTHING: Final = timedelta()
SHORT_QUESTION_WORDS: Final = 20
"""A passage that ends with a question mark and has at most this many words is a question; a longer one also states."""

_DIFFERENCE_MAKERS: Final = frozenset({"not", "no", "never", "cannot", "t", "without", "longer", "former", "formerly"})
"""Words that reverse a statement (“t” ends “doesn’t”): statements that differ in one are never duplicates."""


@dataclass
class Candidate:
    """One memory found by the search. Not frozen: 150 per query would take twice the time."""

    ref: str
    """Several passages of one message or summary share it; the best one represents them."""
    text: str
    when: datetime
    """When it was said or happened; of a fact, when it was recorded."""
    distance: float | None
    """Cosine distance to the question, 0–2; None: it has no vector."""
    words: float
    """Share of the question's words it has, weighted by rarity and position: 0–1."""
    importance: float
    times_used: int
    source: Source = "fact"
    last_used_at: datetime | None = None
    author: str = ""
    """The speaker, if neither the user nor the model."""
    own_words: bool = True
    """In the user's words, or derived from them."""
    thread: Hashable = None
    """The conversation it was said in; None: none."""
    place: int = 0
    """Place of its message in the thread, 1 apart."""
    number: int = 0
    """Number of the passage in its message."""
    tokens: int = 0
    is_archived: bool = False
    message_id: int | None = None
    """The message it is or was learned from."""
    in_project: bool = False
    """Whether it belongs to the project of the conversation that asks."""
    keyed_answer: float = 0.0
    """Above 0 for what has the key the question asks for: its score, so that it leads whatever its words are."""
    is_over: bool = False
    """It is about what has ended or was replaced."""
    replaces: str = ""
    """The text whose place it took, which says what it is about: “switched to matcha”, of coffee in the morning."""
    is_rest: bool = False
    """What is left of a text, without a word of the question. Its vector is of the whole, so it has to be read."""
    sums_up: bool = False
    """It is the document of a conversation, whose messages are found themselves."""
    never_leads: bool = False
    """It doesn't answer, however near: it holds no more, or it only sums up."""
    seldom_leads: bool = False
    """It answers only if that is surer by OVER_KEYED: another key is asked for, or it seems asked or made up."""

    @cached_property
    def word_set(self) -> frozenset[str]:
        """Its words in lower case."""
        return frozenset(words_of(self.text))

    @cached_property
    def named(self) -> frozenset[str]:
        """The names in it: its capitalized words, in lower case."""
        return _names_among(words_as_written(self.text))

    @cached_property
    def asks(self) -> bool:
        """Whether it ends with a question."""
        text = self.text
        return "?" in text and text.split(" [shared image", 1)[0].rstrip().endswith("?")

    @cached_property
    def session(self) -> Hashable:
        """The session it belongs to: a thread's passages of one day. Without a thread, the candidate alone."""
        return self.ref if self.thread is None else (self.thread, self.when.toordinal())

    @property
    def is_passage(self) -> bool:
        """Whether it is a piece of a longer text, not a complete statement."""
        return self.source in ("document", "message", "segment")


@dataclass(slots=True)
class RankedCandidate:
    """One candidate with its score, and the rule that cut it (None: it is kept)."""

    candidate: Candidate
    parts: Mapping[Part, float]
    total: float
    relevance: float
    """Relevance to the question, regardless of speaker and date: 0–1.1."""
    rule: Rule | None = None
    is_answer: bool = False
    """Whether it most likely answers the question."""
    follows: bool = False
    """Whether the user wrote it after the message that answers (`memory/retrieval/followed.py`)."""
    odds: float = -math.inf
    """Log odds that it answers, if it was read beside the question."""

    @property
    def leading_odds(self) -> float:
        """Log odds by which it is compared as the answer."""
        return self.odds - OVER_KEYED * self.candidate.seldom_leads

    def order(self) -> tuple[float, float, str, int]:
        """Best first; with equal scores the newest."""
        candidate = self.candidate
        return -round(self.total, 3), -self.parts["recency"], candidate.ref, candidate.number


def rerank(
    question: Question,
    candidates: Iterable[Candidate],
    profile: RankingProfile,
    now: datetime,
    *,
    calibration: Calibration,
    top_k: int = TOP_K,
    token_budget: int | None = None,
    strong: float = STRONG,
    told: Collection[str] = (),
    cross_encode: Callable[[Sequence[str]], Sequence[float]] | None = None,
    read: Callable[[str], float] | None = None,
) -> list[RankedCandidate]:
    """The candidates, one per ref, best first: kept ones have no rule, cut ones have theirs.

    `told`: refs that the prompt already contains; they take no place, nor do their near-duplicates. `cross_encode`:
    returns how relevant each text is to the question, 0–1. `read`: how likely a text answers it, if it is to be read
    (`memory/retrieval/reading.py`).
    """
    known = list(candidates)
    context = _Context(question, known, calibration)
    weights = list(profile.weights.items())
    scored = []
    for candidate in known:
        parts = _parts(candidate, question, context, now)
        boosted = profile.boosts_recent == "always" or question.wants_latest
        is_recent = boosted and now - candidate.when < _RECENT
        scored.append(
            RankedCandidate(candidate, parts, _total(parts, weights, profile, is_recent=is_recent), relevance(parts))
        )
    scored.sort(key=RankedCandidate.order)
    best = _spread(_deduplicate_refs(scored), question.kind.repeated)
    if cross_encode is not None:
        best = _cross_encode(best, cross_encode)
    was_read = read is not None
    if read is not None:
        _read(best, read, calibration)
    answers = _read_answers(question, best) if was_read else _near_answers(question, best, calibration)
    best = _with_answer_first(question, best, answers, told)
    # An explicit search, which needs no STRONG passage, shows what others said, too.
    margin = attribution_margin(question, [(row.candidate, row.parts) for row in scored]) if strong > WEAK else None
    by_others = margin is not None and margin < MIN_MARGIN
    limits = _Limits(question, calibration, top_k, token_budget, strong, told, by_others, bool(answers), was_read)
    _assign_cut_rules(best, limits)
    return sorted(best, key=lambda row: row.rule is not None)


def _cross_encode(
    best: Sequence[RankedCandidate], cross_encode: Callable[[Sequence[str]], Sequence[float]]
) -> list[RankedCandidate]:
    """The first CROSS_ENCODED in the cross-encoder's order; what has the key that is asked for stays ahead."""
    keyed = [row for row in best if row.candidate.keyed_answer]
    others = [row for row in best if not row.candidate.keyed_answer]
    read, rest = others[:CROSS_ENCODED], others[CROSS_ENCODED:]
    for row, score in zip(read, cross_encode([row.candidate.text for row in read]), strict=True):
        row.parts, row.total = {**row.parts, "cross_encoder": score}, score
    return [*keyed, *sorted(read, key=lambda row: -row.total), *rest]


def _read(best: Iterable[RankedCandidate], read: Callable[[str], float], calibration: Calibration) -> None:
    """Read the first READ in the user's own words beside the question, but for those that are far from it."""
    for row in islice((row for row in best if row.candidate.own_words), READ):
        distance, replaced = row.candidate.distance, row.candidate.replaces
        cosine = 0.0
        if distance is not None and not row.candidate.is_rest:
            cosine = 1 - on_scale_of(distance, calibration, CALIBRATIONS[MINILM_INT8])
            if is_far(cosine, row.candidate.words) and not row.candidate.keyed_answer:
                continue
        answers = read(f"{replaced} {row.candidate.text}" if replaced else row.candidate.text)
        row.odds = odds(answers, cosine * (1 + PROJECT_BOOST if row.candidate.in_project else 1))
        row.parts = {**row.parts, "read": answers}


def _with_answer_first(
    question: Question,
    best: Sequence[RankedCandidate],
    as_good: Sequence[RankedCandidate],
    told: Collection[str],
) -> list[RankedCandidate]:
    """What most likely answers the question first: of those that are nearly `as_good` the latest, as what was said
    later corrects it, or says more of it. For a question about the past, what is over; for one about how it was before,
    even if that is less sure. For a fact that the prompt already contains, the message that it is from."""
    if not as_good:
        return list(best)
    if question.asks_past:
        known = (row for row in best if row.odds >= RECALLED_FROM or row.candidate.keyed_answer)
        could = [*as_good, *known] if asks_before(question) else as_good
        answer = next((row for row in could if row.candidate.is_over), as_good[0])
    else:
        of_message: dict[Hashable, RankedCandidate] = {}  # a fact isn't later than the message that it is from
        for row in as_good:
            of_message.setdefault(row.candidate.message_id or row.candidate.ref, row)
        answer = max(of_message.values(), key=lambda row: row.candidate.when)
    if answer.candidate.ref in told:
        answer = next((row for row in best if _is_source(row, answer)), answer)
    answer.is_answer = True
    return [answer, *(row for row in best if row is not answer)]


def _is_source(row: RankedCandidate, fact: RankedCandidate) -> bool:
    """Whether a fact was learned from the message, and that is recalled too."""
    is_message = row.candidate.source == "message" and row.candidate.message_id == fact.candidate.message_id
    return is_message and row.odds >= RECALLED_FROM


def _read_answers(question: Question, best: Iterable[RankedCandidate]) -> list[RankedCandidate]:
    """The best of what answers by its odds, and what is nearly as good, best first."""
    best = list(best)
    keyed = max(
        (row.odds for row in best if row.candidate.keyed_answer and row.odds >= RECALLED_FROM), default=-math.inf
    )
    least = max(ANSWERED_FROM, keyed + OVER_KEYED)
    likely = [row for row in best if row.leading_odds >= least and _may_answer(row.candidate, question)]
    likely.sort(key=lambda row: -row.leading_odds)
    if not likely or likely[0].candidate.seldom_leads:
        return likely[:1]
    least = likely[0].leading_odds - AS_GOOD_ODDS
    return [row for row in likely if row.leading_odds >= least and not row.candidate.seldom_leads]


def _near_answers(
    question: Question, best: Iterable[RankedCandidate], calibration: Calibration
) -> list[RankedCandidate]:
    """The same by its vector, unless what has the question's key is as near."""
    keyed = [1 - (row.candidate.distance or 0.0) for row in best if row.candidate.keyed_answer]
    least = max([calibration.answers, *(cosine + calibration.nearer for cosine in keyed)])
    often = [row for row in best if _may_answer(row.candidate, question) and not row.candidate.seldom_leads]
    near = [row for row in often if _is_near(row.candidate, least) and not row.candidate.is_rest]
    share = OVER_AS_GOOD if question.asks_past else AS_GOOD
    return [row for row in near if row.total >= share * near[0].total]


def _may_answer(candidate: Candidate, question: Question) -> bool:
    """Whether it may lead. A named speaker's words need their name and session, too, and words that repeat the question
    don't answer it."""
    may_lead = not (candidate.author or candidate.never_leads or candidate.keyed_answer)
    return may_lead and ("?" not in question.text or question.text.lower() not in candidate.text.lower())


def _is_near(candidate: Candidate, cosine: float) -> bool:
    return candidate.distance is not None and candidate.distance <= 1 - cosine


# Parts -----------------------------------------------------------------------------------------------------------


class _Context:
    """What a candidate's score takes from others: the best of its session, and the question before it."""

    def __init__(self, question: Question, candidates: Sequence[Candidate], calibration: Calibration) -> None:
        self.calibration = calibration
        self.asked_names = _asked_names(question, candidates)
        self._meaning: dict[Hashable, float] = {}
        self._words: dict[Hashable, float] = {}
        self._questions: dict[tuple[Hashable, int], float] = {}
        for candidate in candidates:
            meaning, words = semantic(candidate.distance, calibration), min(1.0, candidate.words)
            session = candidate.session
            if meaning > self._meaning.get(session, -1.0):
                self._meaning[session] = meaning
            if words > self._words.get(session, -1.0):
                self._words[session] = words
            if candidate.asks and candidate.thread is not None:
                place, fit = (session, candidate.place), (meaning + words) / 2
                self._questions[place] = max(self._questions.get(place, 0.0), fit)

    def session(self, candidate: Candidate) -> float:
        """How well the best of its session fits, by meaning and by words."""
        session = candidate.session
        return (self._meaning[session] + self._words[session]) / 2

    def answer(self, candidate: Candidate) -> float:
        """How well the question just before it fits; 0 if there was none."""
        if candidate.thread is None or candidate.number or not self._questions:
            return 0.0
        return self._questions.get((candidate.session, candidate.place - 1), 0.0)


def _parts(candidate: Candidate, question: Question, context: _Context, now: datetime) -> dict[Part, float]:
    """Each part of the score, 0–1, regardless of its weight; `project` and `keyed_answer` only if they apply."""
    when, last_used_at, periods = candidate.when, candidate.last_used_at, question.periods
    age = max(now - when, _NOTHING)
    says_when = question.wants_time and names_a_time(candidate.text, question.cues)
    asks = candidate.asks and len(candidate.text.split()) <= SHORT_QUESTION_WORDS
    at_times: dict[Part, float] = {"project": 1.0} if candidate.in_project else {}
    if candidate.keyed_answer:
        at_times["keyed_answer"] = candidate.keyed_answer
    return {
        "semantic": semantic(candidate.distance, context.calibration),
        "keyword": min(1.0, candidate.words),
        "name_match": _name_match(candidate, question, context),
        "date_match": max([period.match(when.date()) for period in periods]) if periods else 0.0,
        "time_match": 1.0 if says_when else 0.0,
        "session": context.session(candidate),
        "answer": context.answer(candidate),
        "own_words": 1.0 if candidate.own_words else 0.0,
        "question": 1.0 if asks else 0.0,
        "recency": 0.5 ** (age / _RECENCY_HALF_LIFE),
        "importance": min(1.0, candidate.importance),
        "access": min(1.0, candidate.times_used / USES_THAT_COUNT),
        "decay": decay(now - last_used_at if last_used_at else age, candidate.times_used),
        **at_times,  # absent otherwise
    }


def on_scale_of(distance: float, own: Calibration, other: Calibration) -> float:
    """The distance that the model of `other` would give for the same closeness; used while rows are re-embedded."""
    closeness = (1.0 - distance - own.unrelated) / (own.close - own.unrelated)
    return 1.0 - other.unrelated - closeness * (other.close - other.unrelated)


def semantic(distance: float | None, calibration: Calibration) -> float:
    """Closeness in meaning, 0 (unrelated) to 1 (exactly what is asked)."""
    if distance is None:
        return 0.0
    closeness = (1.0 - distance - calibration.unrelated) / (calibration.close - calibration.unrelated)
    return 0.0 if closeness < 0.0 else min(1.0, closeness)


def _name_match(candidate: Candidate, question: Question, context: _Context) -> float:
    """For what a named speaker said: 1 if the question names only them, 0 if it names another, ½ if none or several.

    For a statement: the share of the question's names that it names. For any other passage 0: its words count
    already, and headings capitalize every word (counting them costs 1.8 points of long chats' evidence).
    """
    if candidate.author:
        if len(question.speakers) != 1:
            return 0.5
        return 1.0 if candidate.author in question.speakers else 0.0
    if candidate.is_passage or not context.asked_names:
        return 0.0
    return len(context.asked_names & candidate.named) / len(context.asked_names)


def _asked_names(question: Question, candidates: Iterable[Candidate]) -> frozenset[str]:
    """The words of the question, in any case, that some statement uses as a name."""
    statements = [words_as_written(candidate.text) for candidate in candidates if not candidate.is_passage]
    return _names_among(set[str]().union(*statements)) & question.named - question.cues.openers


def _total(
    parts: Mapping[Part, float], weights: Iterable[tuple[Part, float]], profile: RankingProfile, *, is_recent: bool
) -> float:
    """The weighted mean of the parts with the profile's boosts, 0–1; of a keyed answer its own score."""
    if "keyed_answer" in parts:
        return parts["keyed_answer"]
    score = 0.0
    for part, weight in weights:
        score += weight * parts[part]
    if "project" in parts:
        score += PROJECT_BOOST * parts["project"] * _fit(parts, profile)
    score /= profile.whole
    if is_recent:
        score *= profile.recent_boost
    return _clamp(score * (1.0 + profile.importance_boost * parts["importance"]))


def _fit(parts: Mapping[Part, float], profile: RankingProfile) -> float:
    """What words and meaning add, before the division by the sum of the weights."""
    return sum(profile.weights.get(part, 0.0) * parts[part] for part in FITTING)


def relevance(parts: Mapping[Part, float]) -> float:
    """Relevance to the question, regardless of speaker and date: 0–1.1."""
    return MEASURED.weights["keyword"] * parts["keyword"] + MEASURED.weights["semantic"] * parts["semantic"]


def _names_among(words: Iterable[str]) -> frozenset[str]:
    """The capitalised ones, in lower case."""
    return frozenset({word.lower() for word in words if word[0].isupper()} - ENGLISH.openers)


# Rules -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Limits:
    question: Question
    calibration: Calibration
    top_k: int
    token_budget: int | None
    strong: float
    told: Collection[str]
    said_by_others: bool
    is_answered: bool
    """A memory most likely answers, beside which no conversation's document adds anything."""
    was_read: bool
    """The best in the user's words were read beside the question: for these, what that says takes the floors' place."""


def _deduplicate_refs(scored: Iterable[RankedCandidate]) -> list[RankedCandidate]:
    """The best passage of each ref, in order."""
    best: dict[str, RankedCandidate] = {}
    for row in scored:
        best.setdefault(row.candidate.ref, row)
    return list(best.values())


def _spread(best: list[RankedCandidate], repeated: float) -> list[RankedCandidate]:
    """In the order of scores that are multiplied by `repeated` for each better memory of the same session."""
    if repeated == 1.0:
        return best
    better: dict[Hashable, int] = {}
    for row in best:
        session = row.candidate.session
        row.total *= repeated ** better.setdefault(session, 0)
        better[session] += 1
    return sorted(best, key=RankedCandidate.order)


def _assign_cut_rules(ranked: Sequence[RankedCandidate], limits: _Limits) -> None:
    """Set the rule of each candidate that is cut."""
    kept: list[Candidate] = []
    told: list[Candidate] = []
    any_strong = any(row.relevance >= limits.strong for row in ranked)
    for row in ranked:
        row.rule = _rule(row, kept, told, limits, any_strong=any_strong)
        if row.rule is None:
            kept.append(row.candidate)
            if limits.said_by_others and row.candidate.author:
                row.rule = "said by others"
        elif row.rule == "already in the window":
            told.append(row.candidate)


def _rule(
    row: RankedCandidate, kept: Sequence[Candidate], told: Sequence[Candidate], limits: _Limits, *, any_strong: bool
) -> Rule | None:
    if not _reaches_floor(row, limits, any_strong=any_strong):
        return "below the floor"
    if row.candidate.asks and row.candidate.word_set == limits.question.named:  # asked before: it states nothing
        return "the same question"
    if row.candidate.is_archived and max(row.parts["semantic"], row.parts["keyword"]) < ARCHIVED_FLOOR:
        return "archived"
    is_answer = row.candidate.keyed_answer > 0 and row.candidate.source == "fact"
    if row.candidate.ref in limits.told and not is_answer:
        return "already in the window"
    if len(kept) >= limits.top_k:
        return "beyond top-K"
    if any(is_near_duplicate(row.candidate, other) for other in (*kept, *(() if is_answer else told))):
        return "near-duplicate"
    if limits.token_budget is not None:
        used = sum(other.tokens for other in kept)
        if used + row.candidate.tokens > limits.token_budget:
            return "over the token budget"
    return None


def _reaches_floor(row: RankedCandidate, limits: _Limits, *, any_strong: bool) -> bool:
    if row.candidate.keyed_answer or row.is_answer:
        return True
    if row.candidate.is_rest and row.odds < RECALLED_FROM:
        return False
    is_for_prompt = limits.strong > WEAK  # an explicit search shows what is near, too
    if limits.was_read and is_for_prompt and limits.is_answered and row.candidate.sums_up:
        return False
    if limits.was_read and is_for_prompt and row.candidate.own_words:
        return row.odds >= RECALLED_FROM
    by_words = row.candidate.words >= WORDS_FLOOR
    if row.candidate.is_passage:
        is_related = by_words or row.candidate.distance is None or _is_near(row.candidate, limits.calibration.related)
        return any_strong and row.relevance >= WEAK and is_related
    return by_words or _is_near(row.candidate, limits.calibration.floor)


def is_near_duplicate(first: Candidate, second: Candidate) -> bool:
    """Whether two texts have nearly the same words, and no name, number or “not” differs."""
    if max(len(first.text), len(second.text)) > 2 * min(len(first.text), len(second.text)) + 20:
        return False  # skip the comparison: lengths differ too much for near-duplicates
    different = first.word_set ^ second.word_set
    either = (len(first.word_set) + len(second.word_set) + len(different)) / 2
    if not either:
        return first.text == second.text
    if len(different) > (1 - SAME_WORDS) * either:
        return False
    telling = first.named | second.named | _DIFFERENCE_MAKERS
    return not any(word in telling or any(char.isdigit() for char in word) for word in different)


def _clamp(share: float) -> float:
    return min(1.0, max(0.0, share))
