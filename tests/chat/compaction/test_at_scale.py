"""A thousand turns: each prompt fits, and everything ever said can still be reached.

How long each prompt takes to assemble is printed but not judged: the machine may be busy, and retrieval is left out
here. `python -m bench.turn --compiles 1000` measures it with retrieval.
"""

import json
import time
from statistics import median, quantiles
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from chat.compaction.triggers import VERBATIM_TURNS
from chat.compaction.window import MAX_SEGMENTS
from chat.models import Conversation, Segment
from chat.prompt import inputs
from chat.prompt.assemble import assemble_prompt
from chat.prompt.request import FRAME, PLACEHOLDER, SUMMARY_NOTE
from chat.tools.registry import run_tool
from chat.turn import AcceptedTurn, ToolUse
from chat.turns.intake import accept_message
from memory.index.indexer import embed_pending, index_conversation
from memory.retrieval.recall import RetrievalResult
from tests import emptying
from tests.chat.long_talk import Exchange, answered, ask, begin, fold, go_on

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("offline_server", "shaped_secrets_only")]

TURNS = 1_000
COMPILED_EVERY = 10
"""Turns between two assembled prompts: all thousand would take minutes. The changes of a segment or a cut last
longer."""
COUNTED_EVERY = 50
"""Turns between two prompts whose statements are counted. Then the server also counts the rows, which it does
by itself once they are committed: with plans for empty tables, this takes twice as long."""

PLANTED: list[tuple[str, str, str]] = [
    # What is said, the question in other words, and what an answer must contain.
    ("My sister Mary lives in Lisbon.", "In which city is my sibling's home?", "Lisbon"),
    ("I am allergic to peanuts.", "Which food is dangerous for me because of an allergy?", "peanuts"),
    ("We named the new boat Halcyon.", "What is our ship called?", "Halcyon"),
    ("My dentist is Doctor Okafor.", "Who looks after my teeth?", "Okafor"),
    ("The garage door code is kept in the blue tin.", "Where do we keep the number that opens the garage?", "blue tin"),
    ("I bought a cello in Cremona.", "Which string instrument did I purchase?", "cello"),
    ("Our wedding was on a rainy day in October.", "What was the weather when we got married?", "rainy"),
    ("My first programming language was Pascal.", "What did I learn to code in at the beginning?", "Pascal"),
    ("The cat is called Biscuit.", "What name does my pet have?", "Biscuit"),
    ("I decided to take the night train to Vienna.", "How am I travelling to Austria's capital?", "night train"),
    ("My boss Priya prefers short e-mails.", "How does my manager like to be written to?", "short"),
    ("I drive an old green Volvo.", "Which car do I own?", "Volvo"),
    ("We are saving for a house with an orchard.", "What sort of home do we put money aside for?", "orchard"),
    ("My grandfather was a lighthouse keeper.", "What was my grandad's job?", "lighthouse"),
    ("I cannot stand the smell of lavender.", "Which scent do I dislike?", "lavender"),
    ("The project deadline moved to the third of March.", "By when must the project be finished now?", "the third"),
    ("I run ten kilometres every Sunday.", "What exercise do I do at weekends?", "kilometres"),
    ("My favourite novel is Middlemarch.", "Which book do I love most?", "Middlemarch"),
    ("The plumber charges eighty euros an hour.", "How expensive is the man who repairs our pipes?", "eighty"),
    ("I keep the spare key under the flowerpot.", "Where is the extra key hidden?", "flowerpot"),
]
TALK = (
    (
        "How do I sharpen a kitchen knife on a stone, round {n}?",
        "Hold the blade at fifteen degrees, draw it slowly.",
    ),
    ("What makes bread rise better in batch {n}?", "Warm dough and patience; the yeast needs an hour or two."),
    ("Explain how tides work, part {n}.", "The moon pulls the water; the earth turns beneath the bulge."),
    ("Which chord follows in exercise {n}?", "Try the dominant seventh and let it resolve to the tonic."),
    ("How tall does sunflower number {n} grow?", "About two metres in a good summer, with enough water."),
)


def said(turn: int) -> Exchange:
    """What is said in this turn: in every fiftieth, one of twenty things to remember; small talk in the others."""
    if turn % 50 == 25:
        return PLANTED[turn // 50][0], "Thank you, I see."
    question, answer = TALK[turn % len(TALK)]
    return question.format(n=turn), answer


@pytest.fixture
def thousand(alice: User, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    """A thousand turns, compacted along the way; every tenth prompt is assembled and checked."""
    conversation = begin(alice)
    took: list[float] = []
    statements: list[int] = []
    with monkeypatch.context() as without_retrieval:
        without_retrieval.setattr(inputs, "retrieve", lambda *_, **__: RetrievalResult())
        for turn in range(COMPILED_EVERY, TURNS + 1, COMPILED_EVERY):
            go_on(conversation, [said(before) for before in range(turn - COMPILED_EVERY + 1, turn)])
            question, answer = said(turn)
            opened = accept_message(alice, uuid4(), conversation.pk, question)
            began = time.perf_counter()
            compiled = assemble_prompt(opened)
            took.append((time.perf_counter() - began) * 1000)
            assert compiled.fitted.tokens <= compiled.inputs.budget.plan.available, turn
            assert compiled.fitted.cut_turns is None, turn
            assert len(compiled.inputs.history.segments) <= MAX_SEGMENTS
            if turn % COUNTED_EVERY == 0:
                statements.append(statements_of(opened))
                emptying.count_rows()
            answered(opened, answer)
            if len(compiled.inputs.history.turns) + 1 > VERBATIM_TURNS:
                fold(conversation.pk, "length")
    p50, p95 = median(took), quantiles(took, n=20)[-1]
    print(f"\n{len(took)} prompts of {TURNS} turns: {p50:.1f} ms (p95 {p95:.1f}), {statements[-1]} statements")
    assert set(statements[2:]) <= {statements[-1], statements[-1] - 1}
    return conversation


def statements_of(opened: AcceptedTurn) -> int:
    """Of two times, the fewer: what is known for some seconds only is read again now and then."""
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            assemble_prompt(opened)
        counts.append(len(queries))
    return min(counts)


def reached(opened: AcceptedTurn, prompt: str, question: str, wanted: str) -> str:
    """Where the answer is: in the prompt, or in the result of one tool call; empty: nowhere."""
    if wanted in prompt:
        return "prompt"
    for name in ("search_conversation", "search_knowledge"):
        call = ToolUse("call-1", name, {"query": question, "top_k": 20})
        run_tool(opened, call)
        if wanted in call.result:
            return name
    return ""


def test_only_the_turn_it_was_said_in_tells_each_thing() -> None:
    everything = [text for turn in range(1, TURNS + 1) for text in said(turn)]
    around = "".join((FRAME, PLACEHOLDER, SUMMARY_NOTE, f"{timezone.now():%A, %B %-d, %Y}"))
    for statement, question, wanted in PLANTED:
        assert [text for text in everything if wanted in text] == [statement]
        assert wanted not in question + around


@pytest.mark.timeout(400)  # two hundred prompts and two thousand vectors, on a possibly shared machine
def test_a_thousand_turns_fit_and_forget_nothing(thousand: Conversation) -> None:
    index_conversation(thousand.pk)
    assert not embed_pending(), "some have no vector yet"
    assert Segment.objects.filter(conversation=thousand, merged_into__isnull=False).count() > 10
    where = {}
    for statement, question, wanted in PLANTED:
        opened, compiled = ask(thousand, question)
        prompt = json.dumps(compiled.request["messages"], ensure_ascii=False)
        where[statement] = reached(opened, prompt, question, wanted)
        answered(opened, "")
    print({place: list(where.values()).count(place) for place in set(where.values())})
    assert [statement for statement, place in where.items() if not place] == []
