"""Questions that one memory can't answer are searched without their frame, and with more memories of more sessions."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from memory.retrieval.query import parse_question
from memory.retrieval.question_kinds import KINDS, PLAIN, kind_of
from memory.retrieval.ranking import CALIBRATIONS, MEASURED, SEED, TOP_K, Candidate, rerank
from memory.retrieval.recall import retrieve
from tests.memory.retrieval.test_recall import talk

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINILM = CALIBRATIONS["all-MiniLM-L6-v2-int8"]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("In which order did I plan the parts of the garden?", "order"),
        ("Can you give me a timeline of my move?", "order"),
        ("Summarize how the garden came along.", "summary"),
        ("Tell me everything I've said about my boat.", "summary"),
        ("What books has Ines read?", "list"),
        ("Which cities did we see?", "list"),
        ("Where have I camped?", "list"),
        ("What did you recommend against snails?", "said by the model"),
        ("Remind me of your advice about the roof", "said by the model"),
        ("Where does my sister live?", "plain"),
        ("What does my sister do?", "plain"),
        ("I'd like to order a sofa.", "plain"),
        ("I gave my talk yesterday", "plain"),
    ],
)
def test_the_kind_of_a_question_is_heard_in_its_words(question: str, kind: str) -> None:
    assert kind_of(question).name == kind


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("In what order did I bring up different aspects of my garden?", "my garden?"),
        ("Please summarize our conversations about the leaking roof so far.", "leaking roof"),
        ("Can you give me a summary?", "Can you give me a summary?"),  # nothing else is left
        ("Which order of monks did my uncle join?", "Which order of monks did my uncle join?"),
    ],
)
def test_how_to_tell_it_is_not_searched_for(question: str, searched: str) -> None:
    asked = parse_question(question, (), NOW)

    assert asked.keyword_query == searched
    assert asked.text == question


@given(st.text(max_size=200))
def test_the_topic_of_any_text_is_made_of_its_own_words(text: str) -> None:
    for kind in KINDS:
        assert set(kind.topic(text).split()) <= set(text.split())
        assert bool(kind.topic(text).strip()) == bool(text.strip())


def _said(number: int, day: int, *, own: bool = True, words: float = 0.5) -> Candidate:
    return Candidate(
        f"message:{number}",
        f"The tiler came for room {number}.",
        NOW - timedelta(days=100 - day),
        distance=0.6,
        words=words,
        importance=0.5,
        times_used=0,
        source="message",
        own_words=own,
        thread="talk",
        place=number,
    )


def _refs(question: str, *candidates: Candidate) -> list[str]:
    asked = parse_question(question, (), NOW)
    profile = MEASURED.for_question(asked.kind, is_chat=False)
    return [row.candidate.ref for row in rerank(asked, candidates, profile, NOW, calibration=MINILM)]


def test_an_order_comes_from_several_sessions_before_more_of_one() -> None:
    same_day = [_said(1, 1, words=0.56), _said(2, 1, words=0.54), _said(3, 1, words=0.52)]
    later = _said(4, 60)

    assert _refs("In which order did the tiler come?", *same_day, later)[:2] == ["message:1", "message:4"]
    assert _refs("When did the tiler come?", *same_day, later)[:2] == ["message:1", "message:2"]


def test_what_the_model_recommended_is_not_found_in_the_users_own_words_first() -> None:
    own, answer = _said(1, 1), _said(2, 1, own=False, words=0.6)

    assert _refs("What did you recommend for the tiler?", own, answer)[0] == "message:2"
    assert _refs("What did I say about the tiler?", own, answer)[0] == "message:1"


@pytest.mark.django_db
def test_the_formula_of_the_seeds_knows_no_kinds(alice: User) -> None:
    for number in range(TOP_K + 1):
        talk(alice, f"The {number}th wall of my boathouse got {number + 3} new planks of larch.", days_ago=100 - number)

    assert len(retrieve(alice, "Summarize my boathouse.", now=NOW, profile=SEED).kept) == TOP_K
    assert len(retrieve(alice, "Summarize my boathouse.", now=NOW, profile=MEASURED).kept) == TOP_K + 1


@pytest.mark.django_db
def test_a_summary_recalls_twice_as_many_memories(alice: User, bob: User) -> None:
    for number in range(2 * TOP_K + 1):
        talk(alice, f"The {number}th wall of my boathouse got {number + 3} new planks of larch.", days_ago=100 - number)
    talk(bob, "My boathouse got a roof.")

    summary = retrieve(alice, "Summarize how my boathouse has progressed.", now=NOW)

    assert len(summary.kept) == 2 * TOP_K
    assert len(retrieve(alice, "Summarize my boathouse.", now=NOW, top_k=3).kept) == 3
    assert len(retrieve(alice, "What is my boathouse made of?", now=NOW).kept) == TOP_K
    assert not any("roof" in item.text for item in summary.kept)


@pytest.mark.django_db
def test_words_count_less_where_only_the_model_answers(alice: User, bob: User) -> None:
    said = "We keep the larch planks in the boathouse."
    talk(alice, said)
    talk(bob, said, authors=("Ines",))

    [[of_alice], [of_bob]] = [retrieve(user, "Where are the planks?", now=NOW).kept for user in (alice, bob)]

    assert of_alice.parts["keyword"] == of_bob.parts["keyword"]
    of_chats = MEASURED.for_question(PLAIN, is_chat=True)
    assert of_chats.weights == {**MEASURED.weights, **MEASURED.chats}
    for item, profile in ((of_alice, of_chats), (of_bob, MEASURED)):
        total = sum(weight * item.parts[part] for part, weight in profile.weights.items())
        assert item.score == pytest.approx(total / profile.whole)
