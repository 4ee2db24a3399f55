"""Candidates are ordered by named parts; what is left out says by which rule."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.embeddings.scale import Scale
from memory.retrieval.decay import decay
from memory.retrieval.query import parse_question
from memory.retrieval.ranking import (
    ARCHIVED_FLOOR,
    CALIBRATIONS,
    CROSS_ENCODED,
    MEASURED,
    PROFILES,
    SEED,
    STRONG,
    TOP_K,
    WEAK,
    WORDS_FLOOR,
    Calibration,
    Candidate,
    RankedCandidate,
    RankingProfile,
    calibrate,
    is_near_duplicate,
    on_scale_of,
    rerank,
    semantic,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINILM = CALIBRATIONS["all-MiniLM-L6-v2-int8"]
LONG_AGO = NOW - timedelta(days=400)


def candidate(ref: str = "fact:1", text: str = "The user keeps bees.", **fields: Any) -> Candidate:
    defaults: dict[str, Any] = {
        "when": LONG_AGO,
        "distance": 0.6,
        "words": 0.0,
        "importance": 0.5,
        "times_used": 0,
    }
    return Candidate(ref=ref, text=text, **{**defaults, **fields})


def passage(ref: str = "message:1", text: str = "We went to the lake.", **fields: Any) -> Candidate:
    return candidate(ref, text, **{"source": "message", "thread": "talk", "place": 1, **fields})


def ranked(
    *candidates: Candidate,
    question: str = "?",
    profile: RankingProfile = MEASURED,
    top_k: int = TOP_K,
    authors: tuple[str, ...] = (),
    **limits: Any,
) -> list[RankedCandidate]:
    asked = parse_question(question, authors, NOW)
    return rerank(asked, candidates, profile, NOW, calibration=MINILM, top_k=top_k, **limits)


def refs(rows: list[RankedCandidate]) -> list[str]:
    return [row.candidate.ref for row in rows]


def rule_of(rows: list[RankedCandidate], ref: str) -> str | None:
    return next(row.rule for row in rows if row.candidate.ref == ref)


# Order -----------------------------------------------------------------------------------------------------------


def test_what_is_closer_in_meaning_comes_first() -> None:
    assert refs(ranked(candidate("fact:1", distance=0.6), candidate("fact:2", "Other.", distance=0.3))) == [
        "fact:2",
        "fact:1",
    ]


def test_words_bring_up_what_has_no_vector_yet() -> None:
    (row,) = ranked(candidate(distance=None, words=0.9))

    assert row.rule is None
    assert row.parts["semantic"] == 0
    assert row.total > 0


@pytest.mark.parametrize("question", ["Where does Mary live?", "where does mary live?", "And Mary?"])
def test_a_name_in_the_question_lifts_what_names_it(question: str) -> None:
    mary = candidate("fact:1", "The user's sister Mary lives in Lisbon.")
    tom = candidate("fact:2", "The user's brother Tom lives in Leeds.", distance=0.58)

    rows = ranked(tom, mary, question=question)

    assert refs(rows) == ["fact:1", "fact:2"]
    assert [row.parts["name_match"] for row in rows] == [1, 0]


def test_a_cross_encoder_orders_the_first_twenty_behind_the_keyed_answer() -> None:
    others = [passage(f"message:{number}", f"Passage {number}.", distance=0.6 + number / 100) for number in range(25)]
    keyed = candidate("fact:1", "The user lives in Lyon.", keyed_answer=1.0)
    read: list[str] = []

    def prefer_the_last(texts: Sequence[str]) -> list[float]:
        read.extend(texts)
        return [place / len(texts) for place in range(len(texts))]

    rows = ranked(*others, keyed, top_k=30, cross_encode=prefer_the_last)

    assert read == [f"Passage {number}." for number in range(CROSS_ENCODED)]
    assert refs(rows)[:3] == ["fact:1", "message:19", "message:18"]
    assert refs(rows)[CROSS_ENCODED + 1 :] == [f"message:{number}" for number in range(CROSS_ENCODED, 25)]
    assert rows[1].parts["cross_encoder"] == rows[1].total == 0.95


def test_what_is_read_as_the_answer_leads_and_is_recalled_however_far_its_vector_is() -> None:
    tram = passage("message:1", "on the number 19 tram", distance=0.88)
    near = passage("message:2", "I work out", distance=0.8, words=0.5)

    rows = ranked(
        *(tram, near),
        question="what do I do for work?",
        read=lambda text: 0.97 if "tram" in text else 0.01,
    )

    assert refs(rows) == ["message:1", "message:2"]
    assert [(row.is_answer, row.rule) for row in rows] == [(True, None), (False, "below the floor")]
    assert rows[0].parts["read"] == 0.97


def test_of_two_that_answer_as_well_the_later_leads_and_for_the_past_what_is_over() -> None:
    old = passage("message:1", "34 a month", is_over=True)
    new = passage("message:2", "19 a month", when=NOW)

    def first(question: str) -> str:
        return ranked(old, new, question=question, read=lambda _: 0.9)[0].candidate.ref

    assert first("what do I pay for my phone?") == "message:2"
    assert first("what did I pay for my phone before?") == "message:1"


def test_for_how_it_was_before_what_is_over_leads_even_if_it_is_less_sure() -> None:
    old = passage("message:1", "I work on the till at Boots.", is_over=True)
    new = passage("message:2", "Started my new job yesterday!", when=NOW)
    chances = {old.text: 0.9, new.text: 0.999}

    def first(question: str) -> str:
        return ranked(old, new, question=question, read=chances.__getitem__)[0].candidate.ref

    assert first("What did I do before this job?") == "message:1"
    assert first("What did I tell you that I started?") == "message:2"


def test_a_keyed_memory_that_does_not_answer_when_read_leads_before_nothing_that_does() -> None:
    keyed = passage("message:1", "My wife Delphine said the same.", distance=1.0, keyed_answer=0.9)
    drawn = passage("message:2", "I drew Zsofia in round one.", distance=0.88, seldom_leads=True)
    chances = {keyed.text: 0.6, drawn.text: 0.998}

    rows = ranked(keyed, drawn, question="Who am I up against?", read=chances.__getitem__)

    assert refs(rows)[0] == "message:2"


def test_a_fact_does_not_lead_for_being_learned_later_than_its_message_was_said() -> None:
    said = passage("message:1", "boiler serviced, the guy was Pete Okafor", message_id=1)
    fact = candidate("fact:1", "Boiler serviced.", when=NOW, message_id=1)
    later = passage("message:2", "Pete serviced the boiler again", when=NOW, message_id=2)
    chances = {said.text: 0.95, fact.text: 0.93, later.text: 0.93}

    def first(*known: Candidate) -> str:
        return ranked(*known, question="who serviced my boiler?", read=chances.__getitem__)[0].candidate.ref

    assert first(said, fact) == "message:1"
    assert first(said, fact, later) == "message:2"


@pytest.mark.parametrize(("plain", "leads"), [(0.6, "message:1"), (0.9, "message:2")])
def test_what_is_not_clearly_stated_leads_only_where_that_is_far_surer(plain: float, leads: str) -> None:
    asked = passage("message:1", "i'm a 41, go up a size?", seldom_leads=True, when=NOW)
    stated = passage("message:2", "new shoes today")

    rows = ranked(asked, stated, question="what's my shoe size?", read=lambda text: 0.99 if "41" in text else plain)

    assert [row.candidate.ref for row in rows if row.is_answer] == [leads]


@pytest.mark.parametrize(("chance", "leads"), [(0.9, "message:1"), (0.001, "fact:1")])
def test_for_a_fact_of_the_profile_the_message_that_it_is_from_leads_if_that_is_recalled(
    chance: float, leads: str
) -> None:
    tuna = candidate("fact:1", "The user dislikes tuna.", message_id=1)
    said = passage("message:1", "five lunches please, i cant stand tuna", message_id=1)
    chances = {tuna.text: 0.99, said.text: chance}

    rows = ranked(*(tuna, said), question="which fish don't i like?", read=chances.__getitem__, told={"fact:1"})

    assert [row.candidate.ref for row in rows if row.is_answer] == [leads]
    assert rule_of(rows, "fact:1") == "already in the window"


def test_what_took_another_texts_place_is_read_with_it() -> None:
    read: list[str] = []

    def remembered(text: str) -> float:
        read.append(text)
        return 0.0

    ranked(
        candidate(text="Matcha since June.", replaces="Coffee at dawn."), question="what do I drink?", read=remembered
    )

    assert read == ["Coffee at dawn. Matcha since June."]


def test_an_explicit_search_shows_what_is_near_whatever_was_read() -> None:
    near = passage(words=0.5)

    def rule(strong: float) -> str | None:
        return ranked(near, question="where is the lake?", strong=strong, read=lambda _: 0.0)[0].rule

    assert (rule(STRONG), rule(WEAK)) == ("below the floor", None)


def test_what_is_far_from_the_question_and_has_none_of_its_words_is_not_read() -> None:
    read: list[str] = []

    def remembered(text: str) -> float:
        read.append(text)
        return 0.0

    ranked(
        candidate("fact:1", "Close.", distance=0.4),
        candidate("fact:2", "Far.", distance=1.02),
        candidate("fact:3", "Has the key.", distance=1.02, keyed_answer=0.9),
        candidate("fact:4", "Has the words.", distance=1.02, words=0.4),
        question="which lake?",
        read=remembered,
    )

    assert sorted(read) == ["Close.", "Has the key.", "Has the words."]


def test_what_others_wrote_is_not_read() -> None:
    read: list[str] = []

    def remembered(text: str) -> float:
        read.append(text)
        return 0.0

    answer = passage("message:1", "The model's words.", own_words=False, words=0.9)
    assert ranked(answer, question="what lake?", read=remembered)[0].rule is None
    assert read == []


@pytest.mark.parametrize(("of_key", "leads"), [(0.05, "message:1"), (0.7, "fact:1")])
def test_what_answers_far_better_leads_before_what_has_the_key(of_key: float, leads: str) -> None:
    keyed = candidate("fact:1", "The user has a tortoise.", keyed_answer=0.9)
    said = passage("message:1", "my tortoise is from my grandad")

    rows = ranked(
        keyed, said, question="who gave me my tortoise?", read=lambda text: 0.95 if "from" in text else of_key
    )

    assert rows[0].candidate.ref == leads
    assert {row.rule for row in rows} == {None}


def test_what_is_below_the_floor_stays_below_it_whatever_a_cross_encoder_says() -> None:
    (row,) = ranked(candidate(distance=0.95), cross_encode=lambda texts: [1.0 for _ in texts])

    assert row.rule == "below the floor"


def test_what_most_likely_answers_comes_first_unless_something_has_the_key_asked_for() -> None:
    by_words = candidate("fact:1", "The user keeps bees in Kent.", distance=0.9, words=0.9)
    near = candidate("fact:2", "Other.", distance=1 - MINILM.answers)
    keyed = candidate("fact:3", "The user lives in Lyon.", keyed_answer=1.0)

    rows = ranked(by_words, near)
    assert [(row.candidate.ref, row.is_answer) for row in rows] == [("fact:2", True), ("fact:1", False)]
    assert not any(row.is_answer for row in ranked(by_words, near, keyed))


@pytest.mark.parametrize(
    "other",
    [{"author": "Tom"}, {"never_leads": True}, {"distance": 1.01 - MINILM.answers}],
    ids=["a speaker's words", "another key", "too far"],
)
def test_it_does_not_answer_most_likely(other: dict[str, Any]) -> None:
    assert not any(row.is_answer for row in ranked(candidate("fact:1", **{"distance": 0.3} | other)))


def test_of_what_answers_about_as_well_the_latest_leads() -> None:
    first = candidate("fact:1", "The launch is on 2 June.", distance=0.3, words=0.3)
    later = candidate("fact:2", "It was moved to 9 June.", when=LONG_AGO + timedelta(days=9), distance=0.3, words=0.2)
    weaker = candidate("fact:3", "The launch needs a cake.", when=LONG_AGO + timedelta(days=12), distance=0.5)

    assert refs(ranked(first, later, weaker))[0] == "fact:2"
    assert refs(ranked(first, later, question="When was the launch before?"))[0] == "fact:1"


def test_a_question_about_the_past_is_led_by_what_is_over() -> None:
    quit_ = candidate("fact:1", "The user quit smoking.", distance=0.3, words=0.3)
    over = candidate("fact:2", "The user smoked a pack a day.", distance=0.4, words=0.2, is_over=True)

    assert refs(ranked(quit_, over, question="Did I smoke in 2023?"))[0] == "fact:2"
    assert refs(ranked(quit_, over, question="Do I smoke?"))[0] == "fact:1"


def test_what_has_the_key_gives_way_to_what_is_clearly_nearer() -> None:
    keyed = candidate("fact:1", "The user lives in Galway.", distance=0.7, keyed_answer=1.0)
    nearer = passage("message:1", "we're both on the third floor", distance=0.7 - MINILM.nearer - 0.01)
    not_much = passage("message:1", "we're both on the third floor", distance=0.7 - MINILM.nearer + 0.01)

    assert refs(ranked(keyed, nearer))[0] == "message:1"
    assert refs(ranked(keyed, not_much))[0] == "fact:1"


def test_a_message_that_also_asks_may_answer_but_not_one_that_repeats_the_question() -> None:
    asks = passage("message:1", "I sold the boat last week, how do I cancel its insurance?", distance=0.4)
    repeats = passage("message:2", "I wondered: Where do I live? Hm.", distance=0.2)

    assert [row.is_answer for row in ranked(asks, question="Do I have a boat?")] == [True]
    assert not any(row.is_answer for row in ranked(repeats, question="Where do I live?"))


def test_a_passage_far_from_the_question_needs_its_words() -> None:
    strong = passage("message:1", "First.", distance=0.3)
    far = 1.01 - MINILM.related
    by_words = passage("message:2", "Second.", place=2, distance=far, words=WORDS_FLOOR)
    by_chance = passage("message:3", "Third.", place=3, distance=far, words=WORDS_FLOOR - 0.01)

    rows = ranked(strong, by_words, by_chance)

    assert [rule_of(rows, f"message:{number}") for number in (1, 2, 3)] == [None, None, "below the floor"]


def test_by_default_age_does_not_count() -> None:
    old = candidate("fact:1", when=NOW - timedelta(days=3000), distance=0.4)
    new = candidate("fact:2", "Other.", when=NOW - timedelta(hours=1), distance=0.5)

    assert refs(ranked(new, old)) == ["fact:1", "fact:2"]


def test_of_two_equals_the_newer_comes_first() -> None:
    old = candidate("fact:1", when=NOW - timedelta(days=300))
    new = candidate("fact:2", "Other.", when=NOW - timedelta(days=200))

    assert refs(ranked(old, new)) == ["fact:2", "fact:1"]


def test_a_question_for_the_latest_state_lifts_what_is_recent() -> None:
    old = candidate("fact:1", distance=0.45)
    new = candidate("fact:2", "Other.", when=NOW - timedelta(days=2), distance=0.5)

    assert refs(ranked(old, new, question="Where did I work?")) == ["fact:1", "fact:2"]
    assert refs(ranked(old, new, question="Where do I work now?")) == ["fact:2", "fact:1"]


def test_the_seed_profile_weighs_as_the_seed_says() -> None:
    same = candidate(distance=1 - MINILM.close, words=0.5, when=NOW - timedelta(days=30), importance=0.0)

    (row,) = ranked(same, profile=SEED)

    assert row.total == pytest.approx(0.4 * 1 + 0.3 * 0.5 + 0.2 * 0.5 + 0.1 * 0)


def test_the_seed_profile_lifts_the_last_week_by_a_fifth() -> None:
    week = candidate(when=NOW - timedelta(days=7, minutes=-1), importance=0.0)
    (row,) = ranked(week, profile=SEED)
    parts = row.parts

    plain = 0.4 * parts["semantic"] + 0.2 * parts["recency"]
    assert row.total == pytest.approx(1.2 * plain)


def parts_of(rows: list[RankedCandidate], ref: str) -> Any:
    return next(row.parts for row in rows if row.candidate.ref == ref)


def test_what_the_person_named_said_comes_before_what_was_said_to_them() -> None:
    by_her = passage("message:1", "I was at the lake.", author="Caroline", place=1)
    to_her = passage("message:2", "Caroline, the lake is lovely.", author="Melanie", place=2, distance=0.58)

    rows = ranked(to_her, by_her, question="When was Caroline at the lake?", authors=("Caroline", "Melanie"))

    assert refs(rows) == ["message:1", "message:2"]
    assert [row.parts["name_match"] for row in rows] == [1, 0]


def test_who_is_named_does_not_count_where_both_are() -> None:
    rows = ranked(passage(author="Caroline"), question="What do Caroline and Mel do?", authors=("Caroline", "Mel"))

    assert rows[0].parts["name_match"] == 0.5


def test_what_was_said_at_the_time_asked_about_comes_first() -> None:
    in_may = passage("message:1", "First.", when=datetime(2026, 5, 20, tzinfo=UTC))
    in_july = passage("message:2", "Second.", when=datetime(2026, 7, 20, tzinfo=UTC), place=5, distance=0.55)

    assert refs(ranked(in_july, in_may, question="What did I do in May 2026?")) == ["message:1", "message:2"]
    assert refs(ranked(in_july, in_may, question="What did I do?")) == ["message:2", "message:1"]


def test_what_follows_a_question_that_fits_is_its_answer() -> None:
    asked = passage("message:1", "Where did you two meet?", place=1, distance=0.3, words=0.6)
    answer = passage("message:2", "At a bakery in Leeds, years ago.", place=2, distance=0.85)
    elsewhere = passage("message:9", "In a garden near Bath, last week.", place=9, distance=0.85)

    rows = ranked(asked, elsewhere, answer, question="Where did they meet?")

    assert parts_of(rows, "message:2")["answer"] > 0.5
    assert parts_of(rows, "message:9")["answer"] == 0
    assert refs(rows).index("message:2") < refs(rows).index("message:9")


def test_a_sitting_that_is_about_it_lifts_all_that_was_said_there() -> None:
    best = passage("message:1", "First.", distance=0.3)
    beside = passage("message:5", "Second.", place=5, distance=0.7)
    another_day = passage("message:6", "Third.", place=6, distance=0.7, when=LONG_AGO - timedelta(days=3))

    rows = ranked(best, another_day, beside)

    assert parts_of(rows, "message:5")["session"] == parts_of(rows, "message:1")["session"]
    assert parts_of(rows, "message:5")["session"] > parts_of(rows, "message:6")["session"]


def test_own_words_come_before_the_assistants() -> None:
    mine = passage("message:1", "First.", distance=0.6)
    theirs = passage("message:2", "Second.", distance=0.5, own_words=False)

    assert refs(ranked(theirs, mine)) == ["message:1", "message:2"]


def test_a_question_when_lifts_what_names_a_time() -> None:
    rows = ranked(
        passage("message:1", "We moved house.", distance=0.59),
        passage("message:2", "We moved last week.", place=4),
        question="When did we move?",
    )

    assert [(row.candidate.ref, row.parts["time_match"]) for row in rows] == [("message:2", 1), ("message:1", 0)]


def test_a_short_question_tells_nothing() -> None:
    told = passage("message:1", "We moved last week.", place=3, distance=0.6)
    asked = passage("message:2", "Have you moved?", place=6, distance=0.6)
    told_and_asked = passage("message:3", "We moved last week. " * 6 + "Have you?", place=9, distance=0.6)

    rows = ranked(asked, told, told_and_asked)

    assert [parts_of(rows, ref)["question"] for ref in ("message:1", "message:2", "message:3")] == [0, 1, 0]
    assert refs(rows)[-1] == "message:2"


def test_of_several_passages_of_a_message_the_best_stands_for_it() -> None:
    rows = ranked(passage(number=0, distance=0.7), passage(number=1, text="The best.", distance=0.3))

    assert [(row.candidate.ref, row.candidate.text) for row in rows] == [("message:1", "The best.")]


def test_an_older_models_distance_tells_the_same_closeness_on_the_current_ones_scale() -> None:
    older, current = Calibration(unrelated=0.5, close=0.9, floor=0.6), Calibration(unrelated=0.1, close=0.7, floor=0.3)

    assert on_scale_of(0.1, older, current) == pytest.approx(0.3)
    assert on_scale_of(0.5, older, current) == pytest.approx(0.9)
    assert semantic(on_scale_of(0.3, older, current), current) == pytest.approx(semantic(0.3, older)) == 0.5


def test_the_score_is_the_weighted_mean_of_the_parts() -> None:
    for profile in PROFILES.values():
        (row,) = ranked(candidate(importance=0.0, distance=0.3, words=0.4), profile=profile)

        total = sum(weight * row.parts[part] for part, weight in profile.weights.items())
        assert total / profile.whole == pytest.approx(row.total)


def test_all_that_has_no_weight_by_default_is_noted_all_the_same() -> None:
    unused = LONG_AGO + timedelta(days=370)
    (row,) = ranked(candidate(times_used=2, last_used_at=unused))

    assert row.parts["access"] == pytest.approx(0.2)
    assert row.parts["decay"] == pytest.approx(decay(NOW - unused, 2))


# What is cut, and why --------------------------------------------------------------------------------------------


def test_what_has_nothing_to_do_with_the_question_is_below_the_floor() -> None:
    (row,) = ranked(candidate(distance=0.9, words=0.1))

    assert row.rule == "below the floor"


@pytest.mark.parametrize(
    ("distance", "words", "kept"),
    [
        (1 - MINILM.floor, 0.0, True),
        (1 - MINILM.floor + 0.01, 0.0, False),
        (1.0, WORDS_FLOOR, True),
        (1.0, WORDS_FLOOR - 0.01, False),
        (None, 0.0, False),
    ],
)
def test_either_meaning_or_words_must_reach_their_floor(distance: float | None, words: float, kept: bool) -> None:
    (row,) = ranked(candidate(distance=distance, words=words))

    assert (row.rule is None) is kept


def test_passages_are_recalled_only_where_one_of_them_has_much_to_do_with_the_question() -> None:
    weak = passage("message:1", "First.", distance=0.75)
    strong = passage("message:2", "Second.", place=2, distance=0.3)

    assert rule_of(ranked(weak), "message:1") == "below the floor"
    assert rule_of(ranked(weak, strong), "message:1") is None


@pytest.mark.parametrize(
    ("closeness", "rule"), [(ARCHIVED_FLOOR + 0.01, None), (ARCHIVED_FLOOR - 0.01, "archived")], ids=["strong", "weak"]
)
def test_an_archived_memory_comes_back_by_a_strong_match_only(closeness: float, rule: str | None) -> None:
    distance = 1 - MINILM.unrelated - closeness * (MINILM.close - MINILM.unrelated)

    (row,) = ranked(candidate(distance=distance, is_archived=True))

    assert row.rule == rule


def test_what_no_longer_fits_the_token_budget_leaves_its_place_to_what_does() -> None:
    rows = ranked(
        candidate("fact:1", "First.", distance=0.3, tokens=60),
        candidate("fact:2", "Second.", distance=0.4, tokens=60),
        candidate("fact:3", "Third.", distance=0.5, tokens=30),
        token_budget=100,
    )

    assert [(row.candidate.ref, row.rule) for row in rows] == [
        ("fact:1", None),
        ("fact:3", None),
        ("fact:2", "over the token budget"),
    ]


@pytest.mark.parametrize("cosine", [0.05, 0.15, MINILM.floor - 0.01, MINILM.floor + 0.01, 0.29, 0.31, 0.75])
def test_another_models_cosines_are_judged_as_the_built_in_ones_are(cosine: float) -> None:
    scale = Scale(unrelated=0.78, related=0.86)
    (usual,) = ranked(candidate(distance=1 - cosine))
    similar = candidate(distance=1 - scale.of(cosine))

    (row,) = rerank(parse_question("?", (), NOW), [similar], MEASURED, NOW, calibration=calibrate(scale))

    assert (row.rule, row.is_answer) == (usual.rule, usual.is_answer)
    assert row.total == pytest.approx(usual.total)
    assert calibrate(scale).nearer == pytest.approx(MINILM.nearer * 0.08 / 0.6), "a difference, not a place"


def test_no_more_than_top_k_are_kept() -> None:
    many = [candidate(f"fact:{n}", f"Statement {n}.", distance=0.3 + n / 100) for n in range(9)]

    rows = ranked(*many)

    assert [row.rule for row in rows] == [None] * TOP_K + ["beyond top-K"] * 4


def test_what_is_told_anyway_takes_no_place_nor_does_what_says_the_same() -> None:
    told = candidate("fact:1", "The user's sister Mary lives in Lisbon.", distance=0.3)
    again = candidate("fact:2", "Mary, the user's sister, lives in Lisbon!", distance=0.31)
    other = candidate("fact:3", "The user keeps bees.", distance=0.5)

    rows = ranked(told, again, other, top_k=1, told={"fact:1"})

    assert [rule_of(rows, ref) for ref in ("fact:1", "fact:2", "fact:3")] == [
        "already in the window",
        "near-duplicate",
        None,
    ]


def test_the_question_itself_asked_before_tells_nothing() -> None:
    before = passage("message:1", "Where does my sister LIVE?", distance=0.01)
    answer = passage("message:2", "My sister lives in Lisbon.", distance=0.3)
    other = passage("message:3", "Where does my sister live now?", distance=0.1)

    rows = ranked(before, answer, other, question="Where does my sister live?")

    assert [rule_of(rows, ref) for ref in ("message:1", "message:2", "message:3")] == ["the same question", None, None]


def test_the_same_said_twice_is_kept_once_and_leaves_its_place_to_another() -> None:
    best = candidate("fact:1", "The user's sister Mary lives in Lisbon.", distance=0.3)
    again = candidate("fact:2", "Mary, the user's sister, lives in Lisbon!", distance=0.31)
    other = candidate("fact:3", "The user keeps bees.", distance=0.5)

    rows = ranked(again, other, best, top_k=2)

    assert rule_of(rows, "fact:2") == "near-duplicate"
    assert [row.candidate.ref for row in rows if row.rule is None] == ["fact:1", "fact:3"]


def test_the_kept_come_before_the_cut() -> None:
    rows = ranked(candidate("fact:1", distance=0.9), candidate("fact:2", "Other.", distance=0.5))

    assert [(row.candidate.ref, row.rule) for row in rows] == [("fact:2", None), ("fact:1", "below the floor")]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The user likes tea.", "The user likes tea", True),
        ("The user's dog is called Rufus.", "The user's dog is called Rex.", False),
        (
            "The user ran 10 km in the park on Sunday morning.",
            "The user ran 12 km in the park on Sunday morning.",
            False,
        ),
        ("The user does like cold soup.", "The user does not like cold soup.", False),
        ("The user no longer works at the big mill.", "The user works at the big mill.", False),
        ("The user likes tea.", "The user plays chess.", False),
        ("…", "…", True),
        ("…", "!", False),
    ],
)
def test_a_name_a_number_or_a_not_makes_the_difference(one: str, other: str, same: bool) -> None:
    assert is_near_duplicate(candidate(text=one), candidate(text=other)) is same
    assert is_near_duplicate(candidate(text=other), candidate(text=one)) is same


def test_names_are_what_is_capitalised_but_for_the_opening_word() -> None:
    assert candidate(text="The user's sister Mary lives in Lisbon.").named == {"mary", "lisbon"}
    assert candidate(text="Ana plays the violin.").named == {"ana"}


# For any candidates ----------------------------------------------------------------------------------------------

shares = st.floats(0, 1)
texts = st.sampled_from(
    [
        "The user's sister Mary lives in Lisbon.",
        "Mary, the user's sister, lives in Lisbon.",
        "The user's brother Tom lives in Leeds.",
        "The user keeps bees.",
        "The user does not keep bees.",
        "Der Nutzer wohnt in Köln.",
        "",
    ]
)
any_candidate = st.builds(
    Candidate,
    ref=st.just("fact:0"),
    text=texts,
    when=st.integers(-10, 2000).map(lambda days: NOW - timedelta(days=days)),
    distance=st.none() | st.floats(0, 2),
    words=shares,
    importance=shares,
    times_used=st.integers(0, 50),
)
any_passage = st.builds(
    passage,
    text=texts,
    when=st.integers(0, 3).map(lambda days: NOW - timedelta(days=days)),
    distance=st.none() | st.floats(0, 2),
    words=shares,
    place=st.integers(0, 5),
    number=st.integers(0, 2),
    author=st.sampled_from(["", "Mary", "Tom"]),
    own_words=st.booleans(),
    tokens=st.integers(0, 200),
)
any_memories = st.lists(any_candidate | any_passage, min_size=1, max_size=12).map(
    lambda rows: [replace(row, ref=f"{row.source}:{number}") for number, row in enumerate(rows)]
)
any_candidates = st.lists(any_candidate, min_size=1, max_size=12).map(
    lambda rows: [replace(row, ref=f"fact:{number}") for number, row in enumerate(rows)]
)
questions = st.sampled_from(["Where does my sister live?", "What is new with Mary now?", "bees", "", "Köln?"])
profiles = st.sampled_from(list(PROFILES.values()))


@given(any_memories, questions, profiles, st.randoms(use_true_random=False))
def test_the_order_candidates_arrive_in_changes_nothing(
    candidates: list[Candidate], question: str, profile: RankingProfile, random: Any
) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)

    assert ranked(*candidates, question=question, profile=profile) == ranked(
        *shuffled, question=question, profile=profile
    )


@given(any_memories, questions, profiles)
def test_every_candidate_comes_back_once_with_all_scores_between_0_and_1(
    candidates: list[Candidate], question: str, profile: RankingProfile
) -> None:
    rows = ranked(*candidates, question=question, profile=profile)

    assert sorted(refs(rows)) == sorted(row.ref for row in candidates)
    assert all(0 <= row.total <= 1 and all(0 <= part <= 1 for part in row.parts.values()) for row in rows)


IMPROVEMENTS: list[Callable[[Candidate, float], Candidate]] = [
    lambda row, by: replace(row, distance=None if row.distance is None else row.distance * (1 - by)),
    lambda row, by: replace(row, words=row.words + (1 - row.words) * by),
    lambda row, by: replace(row, importance=row.importance + (1 - row.importance) * by),
    lambda row, by: replace(row, times_used=row.times_used + round(by * 10)),
    lambda row, by: replace(row, when=max(row.when, NOW - (NOW - row.when) * (1 - by))),
]


@given(any_candidates, questions, profiles, st.data())
def test_a_candidate_never_loses_by_getting_better_in_one_part(
    candidates: list[Candidate], question: str, profile: RankingProfile, data: st.DataObject
) -> None:
    chosen = data.draw(st.integers(0, len(candidates) - 1))
    improve, by = data.draw(st.sampled_from(IMPROVEMENTS)), data.draw(shares)
    better = [improve(row, by) if number == chosen else row for number, row in enumerate(candidates)]

    before = ranked(*candidates, question=question, profile=profile)
    after = ranked(*better, question=question, profile=profile)

    ref = f"fact:{chosen}"
    assert refs(after).index(ref) <= refs(before).index(ref)
    assert rule_of(before, ref) is not None or rule_of(after, ref) is None
    assert score_of(after, ref) >= score_of(before, ref)


@given(any_memories, questions, profiles, st.data())
def test_no_score_falls_when_a_memory_gets_better_in_one_part(
    candidates: list[Candidate], question: str, profile: RankingProfile, data: st.DataObject
) -> None:
    chosen = data.draw(st.integers(0, len(candidates) - 1))
    improve, by = data.draw(st.sampled_from(IMPROVEMENTS[:4])), data.draw(shares)
    better = [improve(row, by) if number == chosen else row for number, row in enumerate(candidates)]

    before = ranked(*candidates, question=question, profile=profile)
    after = ranked(*better, question=question, profile=profile)

    assert all(score_of(after, row.ref) >= score_of(before, row.ref) - 1e-9 for row in candidates)


@given(any_memories, questions, profiles, st.none() | st.integers(0, 600))
def test_a_tighter_top_k_never_keeps_more(
    candidates: list[Candidate], question: str, profile: RankingProfile, token_budget: int | None
) -> None:
    kept = [
        [
            row.candidate
            for row in ranked(*candidates, question=question, profile=profile, top_k=top_k, token_budget=token_budget)
            if row.rule is None
        ]
        for top_k in range(8)
    ]

    assert all(wider[: len(tighter)] == tighter for tighter, wider in pairwise(kept))
    tokens = [sum(one.tokens for one in row) for row in kept]
    assert tokens == sorted(tokens)
    assert token_budget is None or max(tokens) <= token_budget


def score_of(rows: list[RankedCandidate], ref: str) -> float:
    return next(row.total for row in rows if row.candidate.ref == ref)
