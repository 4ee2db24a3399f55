"""A segment belongs to the branches that go through its last message: no branch reads another's summary."""

import pytest
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation, Message, Segment
from memory.retrieval.recall import retrieve
from tests.chat.long_talk import ask, begin, fold, go_on, numbered, standing

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("offline_server")]

OTHER = [("Let us go to Bergen instead.", "Bergen it is, with its fish market.")]


def answer_of(conversation: Conversation, turn: int) -> Message:
    found: Message = Message.objects.get(conversation=conversation, turn=turn, role="assistant")
    return found


@pytest.fixture
def folded(alice: User) -> Conversation:
    """Thirty turns, of which 3 to 20 are compacted."""
    conversation = begin(alice, numbered(30))
    fold(conversation.pk, "asked")
    assert standing(conversation) == ([1, 2, *range(21, 31)], [(3, 20)])
    return conversation


def test_a_branch_that_leaves_above_the_fold_keeps_the_summary(folded: Conversation) -> None:
    go_on(folded, OTHER, after=answer_of(folded, 25))
    assert standing(folded) == ([1, 2, *range(21, 27)], [(3, 20)])


def test_a_branch_that_leaves_at_the_last_folded_turn_keeps_the_summary(folded: Conversation) -> None:
    go_on(folded, OTHER, after=answer_of(folded, 20))
    assert standing(folded) == ([1, 2, 21], [(3, 20)])


def test_a_branch_that_leaves_inside_the_fold_reads_the_messages_themselves(folded: Conversation) -> None:
    go_on(folded, OTHER, after=answer_of(folded, 10))
    assert standing(folded) == (list(range(1, 12)), [])
    _, compiled = ask(folded, "And number 15?")
    assert "turns 3–20" not in str(compiled.request["messages"])
    assert "Question number 7?" in str(compiled.request["messages"])


def test_a_branch_that_leaves_inside_the_fold_is_folded_by_itself(folded: Conversation) -> None:
    go_on(folded, OTHER + numbered(25), after=answer_of(folded, 10))
    fold(folded.pk, "length")
    turns, segments = standing(folded)
    assert turns == [1, 2, *range(27, 37)]
    assert segments == [(3, 22), (23, 26)]
    assert "Bergen" in str(list(Segment.objects.filter(first_turn=3, last_turn=22).values("summary", "text")))
    assert "Bergen" not in Segment.objects.get(first_turn=3, last_turn=20).text


def test_going_back_to_the_first_branch_finds_its_summary_again(folded: Conversation) -> None:
    first = folded.active_leaf
    go_on(folded, OTHER + numbered(25), after=answer_of(folded, 10))
    fold(folded.pk, "length")
    folded.refresh_from_db()
    folded.active_leaf = first
    folded.save()
    assert standing(folded) == ([1, 2, *range(21, 31)], [(3, 20)])


def test_a_branch_that_leaves_inside_a_merged_summary_reads_the_parts_it_has(alice: User) -> None:
    conversation = begin(alice, numbered(12))
    for step in range(11):
        go_on(conversation, numbered(5, first=13 + step * 5))
        fold(conversation.pk, "asked")
    merged = Segment.objects.filter(merged_into=None).order_by("first_turn")[0]
    parts = list(Segment.objects.filter(merged_into=merged).order_by("first_turn"))
    assert (merged.first_turn, merged.last_turn) == (3, parts[-1].last_turn)
    go_on(conversation, OTHER, after=answer_of(conversation, parts[1].last_turn + 2))
    turns, segments = standing(conversation)
    assert segments == [(part.first_turn, part.last_turn) for part in parts[:2]]
    assert turns == [1, 2, *range(parts[1].last_turn + 1, parts[1].last_turn + 4)]


def test_a_summary_of_another_branch_is_not_recalled(alice: User) -> None:
    said = numbered(30)
    said[15] = ("I decided to take the ferry to Visby.", "The ferry to Visby leaves from Nynäshamn.")
    conversation = begin(alice, said, index=True)
    fold(conversation.pk, "asked")
    question = "ferry to Visby, decided"
    in_general = {item.ref for item in retrieve(alice, question, now=timezone.now(), top_k=20).kept}
    segment = Segment.objects.get()
    assert segment.ref in in_general
    go_on(conversation, OTHER, after=answer_of(conversation, 10))
    _, compiled = ask(conversation, question)
    everything = {one.ref for one in compiled.inputs.recalled.kept}
    everything |= {one.item.ref for one in compiled.inputs.recalled.cut}
    assert segment.ref not in everything
