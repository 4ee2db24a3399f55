"""Seed 002's conversation of a hundred turns, replayed: what stays, what is known for certain, and what is found."""

import json

import pytest

from accounts.models import User
from chat.compaction.jobs import run_compaction
from chat.compaction.triggers import VERBATIM_TURNS, ConversationState, first_trigger
from chat.compaction.window import KEPT_TURNS
from chat.ingest import librarian_triggers
from chat.models import Compaction, Conversation, Message
from chat.tools.registry import run_tool
from chat.turn import ToolUse
from memory.index.indexer import embed_pending, index_conversation
from memory.librarian.run import run_extraction
from memory.models import Fact, LibrarianRun
from tests.chat.long_talk import Exchange, answered, ask, begin, go_on, standing

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("offline_server")]

DATABASES = [
    ("My name is Alex and I prefer Python.", "Good to meet you, Alex."),
    (
        "Which vector databases are there?",
        "FAISS is a library that keeps vectors in memory; pgvector is a table.",
    ),
    ("Is FAISS faster than pgvector?", "FAISS is faster at millions of vectors; pgvector keeps them beside your rows."),
    ("What does an HNSW index cost in pgvector?", "Memory, and time to build: minutes for a million vectors."),
    ("Can pgvector filter by owner?", "Yes, with a partial index, or by an exact scan of the owner's rows."),
    ("And does FAISS filter?", "Only by ids you give it; the database has to find these first."),
    ("How do I back up pgvector?", "As any table: with pg_dump, or with base backups of the whole server."),
    ("Which of the two survives a crash?", "pgvector, as PostgreSQL writes ahead; FAISS only what you saved."),
    ("I decided to use pgvector.", "A good choice for a few million vectors beside your own rows."),
    ("How do I install it?", "CREATE EXTENSION vector, once in each database."),
]
REST = (
    ("How long do I boil an egg, try {n}?", "Seven minutes give a soft middle, ten a firm one."),
    ("Recommend a walk for day {n}.", "Along the river to the old mill and back, two hours."),
    ("Explain rhyme number {n}.", "The first and third lines answer each other, as do the second and fourth."),
    ("What shall I plant in bed {n}?", "Beans after potatoes: they give the soil its nitrogen back."),
)
ONLY_FOLDED = ("HNSW", "partial index", "pg_dump", "PostgreSQL writes ahead", "CREATE EXTENSION")
"""Words of turns 3 to 10, which are compacted: they can only be found by searching."""


def said(turn: int) -> Exchange:
    """Turns 1 to 10: databases, as in the seed; then small talk about other things."""
    if turn <= len(DATABASES):
        return DATABASES[turn - 1]
    question, answer = REST[turn % len(REST)]
    return question.format(n=turn), answer


@pytest.fixture
def hundred(alice: User) -> Conversation:
    """A hundred turns; whenever the length trigger fires, the worker compacts."""
    conversation = begin(alice)
    for turn in range(1, 101):
        go_on(conversation, [said(turn)])
        verbatim, _ = standing(conversation)
        assert len(verbatim) <= VERBATIM_TURNS + 1
        why = first_trigger(ConversationState(turns=len(verbatim)))
        if why is not None:
            wish = Compaction.objects.create(user=alice, conversation=conversation, reason=why)
            run_compaction(wish.pk)
            verbatim, _ = standing(conversation)
        assert len(verbatim) <= VERBATIM_TURNS
    index_conversation(conversation.pk)
    embed_pending()
    return conversation


def prompt(conversation: Conversation, question: str) -> str:
    opened, compiled = ask(conversation, question)
    answered(opened, "")
    return json.dumps([compiled.request["system"][1:], compiled.request["messages"]], ensure_ascii=False)


def test_a_hundred_turns_become_a_few_summaries_and_the_last_turns(hundred: Conversation) -> None:
    verbatim, folded = standing(hundred)
    assert verbatim[:2] == [1, 2]
    assert KEPT_TURNS + 2 <= len(verbatim) <= VERBATIM_TURNS
    assert folded[0] == (3, 11)
    assert Message.objects.filter(conversation=hundred).count() == 200
    whole = sum(Message.objects.filter(conversation=hundred).values_list("tokens", flat=True))
    _, compiled = ask(hundred, "And now?")
    summaries = sum(segment.tokens for segment in compiled.inputs.history.segments)
    shown = summaries + sum(turn.question.tokens + turn.answer.tokens for turn in compiled.inputs.history.turns)
    originals = sum(
        Message.objects.filter(conversation=hundred, archived_at__isnull=False).values_list("tokens", flat=True)
    )
    print(
        f"\n100 turns of {whole:,} tokens stand as {shown:,} ({whole / shown:.1f} : 1); {originals:,} folded tokens as "
        f"{summaries:,} ({originals / summaries:.1f} : 1), {len(verbatim)} turns and {len(folded)} summaries "
        f"for 200 messages"
    )
    assert shown < whole
    assert len(folded) <= 10


def test_the_name_is_known_without_any_search_and_what_was_discussed_is_found(hundred: Conversation) -> None:
    librarian_triggers.end(hundred)
    for run in LibrarianRun.objects.filter(conversation=hundred):
        run_extraction(run.pk)
    assert Fact.objects.get(user=hundred.user, key="user/name").value == "Alex"
    opened, compiled = ask(hundred, "What's my name?")
    assert any("Alex" in line.text for line in compiled.inputs.profile.lines)
    assert any("Alex" in block["text"] for block in compiled.request["system"][1:])
    answered(opened, "")

    opened, compiled = ask(hundred, "What did we discuss about databases?")
    answered(opened, "")
    words = " ".join(exchange for turn in DATABASES[:2] for exchange in turn)
    assert not [word for word in ONLY_FOLDED if word in words], "the first two turns stand in every prompt"
    assert "HNSW" in json.dumps(compiled.request["messages"]), "the summary tells of it"
    call = ToolUse("call-1", "search_conversation", {"query": "databases", "top_k": 20})
    run_tool(opened, call)
    found = [result["text"] for result in json.loads(call.result)["results"] if result["id"].startswith("message:")]
    assert len({word for word in ONLY_FOLDED if any(word in text for text in found)}) >= 2, found
