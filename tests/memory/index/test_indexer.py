"""How a text becomes searchable: passages with their neighbors' words, and vectors that follow."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from django.db.models import Q

from accounts.models import User
from chat.ingest.source import ChatSource
from chat.models import Conversation, Message, Segment
from memory.documents.revisions import save
from memory.embeddings.limits import DIMENSION
from memory.embeddings.port import embedder
from memory.index import indexer
from memory.models import Chunk, Episode, Fact
from memory.ports.source import Speaker, Utterance

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
TALK: tuple[tuple[Speaker, str], ...] = (
    ("user", "I bought a cello in Cremona."),
    ("assistant", "What a find. Who built it?"),
    ("user", "A man called Bertolotti."),
    ("assistant", "And how does it sound?"),
    ("user", "Dark, with a wolf on the F."),
)

pytestmark = pytest.mark.django_db


def said(*lines: tuple[Speaker, str], author: str = "") -> list[Utterance]:
    return [
        Utterance(0, number, speaker, text, MONDAY + timedelta(minutes=number), author)
        for number, (speaker, text) in enumerate(lines, start=1)
    ]


def talk(user: User, *lines: tuple[Speaker, str]) -> UUID:
    """A stored conversation, indexed by its words."""
    (first, *_) = ChatSource().import_conversation(user, "Instruments", said(*lines))
    return Message.objects.get(pk=first).conversation_id


def passages(conversation: UUID) -> list[Chunk]:
    return list(Chunk.objects.filter(conversation_id=conversation).order_by("place", "number"))


def weights(chunk: Chunk, lexeme: str) -> str:
    """The weights of a lexeme in a passage's words, such as "AB"; empty: it isn't there."""
    entries = dict(entry.split(":") for entry in str(chunk.search).replace("'", "").split(" "))
    positions = entries[lexeme].split(",") if lexeme in entries else []
    return "".join(sorted({position[-1] if position[-1].isalpha() else "D" for position in positions}))


def test_what_was_said_is_found_by_its_words_at_once(alice: User) -> None:
    talk(alice, *TALK)

    found = Chunk.objects.for_user(alice).filter(search="bertolotti")

    assert [chunk.text for chunk in found.order_by("place")][:1] == [TALK[0][1]]  # also by a neighbor's words
    assert TALK[2][1] in {chunk.text for chunk in found}


def test_a_passage_holds_its_neighbours_words_with_less_weight_the_farther_they_are(alice: User) -> None:
    middle = passages(talk(alice, *TALK))[2]

    assert weights(middle, "bertolotti") == "A"
    assert weights(middle, "built") == "B"
    assert weights(middle, "cello") == "C"


def test_a_passage_four_places_away_lends_no_words(alice: User) -> None:
    last = passages(talk(alice, *TALK))[-1]

    assert weights(last, "cello") == ""
    assert weights(last, "built") == "D"


def test_what_is_said_next_lends_its_words_to_what_was_said_before(alice: User) -> None:
    conversation = talk(alice, *TALK[:2])
    later = Message.objects.create(
        user=alice, conversation_id=conversation, seq=3, turn=2, role="user", event_type="user_message", text=TALK[2][1]
    )

    indexer.index_utterances(alice.pk, conversation, [Utterance(later.pk, 3, "user", later.text, MONDAY)])

    assert [weights(chunk, "bertolotti") for chunk in passages(conversation)] == ["C", "B", "A"]


def test_the_speakers_name_is_among_the_words(alice: User) -> None:
    messages = ChatSource().import_conversation(
        alice, "Two friends", said(("user", "The bow is new."), author="Melanie")
    )

    chunk = Chunk.objects.get(message_id=messages[0])

    assert (chunk.author, weights(chunk, "melani")) == ("Melanie", "A")
    assert chunk.own_words


def test_a_model_s_words_are_nobody_s_own(alice: User) -> None:
    assert [chunk.own_words for chunk in passages(talk(alice, *TALK[:2]))] == [True, False]


def test_indexing_a_conversation_again_changes_nothing(alice: User) -> None:
    conversation = talk(alice, *TALK)
    before = [(chunk.pk, chunk.search) for chunk in passages(conversation)]

    assert indexer.index_conversation(conversation) == 0
    assert [(chunk.pk, chunk.search) for chunk in passages(conversation)] == before


def test_an_abandoned_branch_leaves_the_index_with_its_words(alice: User) -> None:
    conversation = talk(alice, *TALK[:2])
    question, old = Message.objects.filter(conversation_id=conversation).order_by("seq")
    new = Message.objects.create(
        user=alice, conversation_id=conversation, seq=3, turn=1, role="assistant",
        event_type="assistant_response", text="Congratulations!", parent=question,
    )  # fmt: skip
    Conversation.objects.filter(pk=conversation).update(active_leaf=new)

    indexer.index_conversation(conversation)

    first, answer = passages(conversation)
    assert answer.message_id == new.pk
    assert weights(first, "congratul") == "B"
    assert weights(first, "built") == ""
    assert old.pk not in Chunk.objects.values_list("message_id", flat=True)


def test_a_message_whose_text_changed_is_read_anew(alice: User) -> None:
    conversation = talk(alice, *TALK[:3])
    message = Message.objects.get(conversation_id=conversation, seq=3)
    Message.objects.filter(pk=message.pk).update(text="A man called Amati.")

    indexer.reindex(conversation, {message.pk})

    assert not Chunk.objects.filter(search="bertolotti").exists()
    assert Chunk.objects.filter(search="amati").count() == 3


def test_a_long_message_is_found_in_its_middle(alice: User) -> None:
    text = " ".join(f"Sentence number {n} of a long letter." for n in range(400)) + " The key is under the fern. "
    text += " ".join(f"Line {n} after it." for n in range(400))
    conversation = talk(alice, ("user", text))

    holding = [chunk for chunk in passages(conversation) if "fern" in chunk.text]

    assert holding
    assert len(passages(conversation)) > 10
    assert all(weights(chunk, "fern").startswith("A") for chunk in holding)


def test_every_row_gets_its_vector_in_the_background(alice: User) -> None:
    talk(alice, *TALK)
    Fact.objects.create(user=alice, statement="The user plays the cello.")
    Episode.objects.create(user=alice, title="A cello", summary="The user bought a cello in Cremona.")
    save(alice, "/reference/bows", "A bow is made of pernambuco.", started_from=0)

    assert indexer.embed_pending() is False

    for model in indexer.EMBEDDED_COLUMNS:
        assert not model._default_manager.exclude(embedded_by=embedder().name).exists()
    chunk = Chunk.objects.get(text=TALK[0][1])
    assert chunk.vector == pytest.approx(embedder().embed([TALK[0][1]])[0].tolist(), abs=1e-3)


def test_embedding_goes_on_where_it_was_interrupted(alice: User) -> None:
    Fact.objects.bulk_create(
        Fact(user=alice, statement=f"The user owns {n} bows.") for n in range(indexer.EMBED_AT_ONCE + 3)
    )

    assert indexer.embed_pending(seconds=0) is True
    assert Fact.objects.filter(embedded_by="").count() == 3
    assert indexer.embed_pending() is False
    assert not Fact.objects.filter(embedded_by="").exists()


def test_after_a_change_of_the_model_rows_are_embedded_anew_and_keep_their_old_vectors_until_then(alice: User) -> None:
    old = np.ones(5, np.float32).tolist()  # another model, another dimension
    for n in range(indexer.EMBED_AT_ONCE + 1):
        Fact.objects.create(user=alice, statement=f"The user owns {n} bows.", vector=old, embedded_by="older-model")

    indexer.embed_pending(seconds=0)

    assert indexer.models_in_use() == {"older-model", embedder().name}
    assert Fact.objects.get(embedded_by="older-model").vector == old
    indexer.embed_pending()
    assert indexer.models_in_use() == {embedder().name}
    assert {len(fact.vector) for fact in Fact.objects.all()} == {DIMENSION}


def test_new_rows_come_before_those_of_an_older_model(alice: User) -> None:
    for n in range(indexer.EMBED_AT_ONCE):
        Fact.objects.create(user=alice, statement=f"Old {n}.", vector=[1.0], embedded_by="older-model")
    fresh = Fact.objects.create(user=alice, statement="The user owns a bow.")

    indexer.embed_pending(seconds=0)

    fresh.refresh_from_db()
    assert fresh.embedded_by == embedder().name
    assert Fact.objects.filter(embedded_by="older-model").count() == indexer.EMBED_AT_ONCE


def test_a_text_that_changed_while_it_was_embedded_keeps_waiting(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    fact = Fact.objects.create(user=alice, statement="The user owns a bow.")
    embed = embedder().embed

    def edited_meanwhile(texts: list[str]) -> object:
        Fact.objects.filter(pk=fact.pk, statement="The user owns a bow.").update(statement="The user owns two bows.")
        return embed(texts)

    monkeypatch.setattr(type(embedder()), "embed", lambda _, texts: edited_meanwhile(texts))
    indexer.embed_pending()

    fact.refresh_from_db()
    assert fact.vector == pytest.approx(embed(["The user owns two bows."])[0].tolist(), abs=1e-3)


def test_an_unchanged_passage_of_a_document_keeps_its_vector(alice: User) -> None:
    first = "\n\n".join(f"Paragraph {n} tells how a bow is haired. " * 12 for n in range(6))
    document = save(alice, "/reference/bows", first, started_from=0)
    indexer.index_document(document)
    indexer.embed_pending()
    kept = Chunk.objects.filter(document=document).order_by("number")[0].text

    document = save(alice, "/reference/bows", first + "\n\nA new end.", started_from=1)
    indexer.index_document(document)

    chunks = Chunk.objects.filter(document=document)
    assert chunks.get(number=0).text == kept
    assert chunks.get(number=0).embedded_by == embedder().name
    assert chunks.filter(embedded_by="").exists()


def test_a_document_is_found_by_its_headings(alice: User) -> None:
    document = save(alice, "/reference/bows", "# Horsehair\n\nIt comes from Mongolia.", started_from=0)
    indexer.index_document(document)

    assert Chunk.objects.filter(search="horsehair").get().document == document


def test_an_emptied_document_leaves_the_index(alice: User) -> None:
    document = save(alice, "/reference/bows", "Pernambuco.", started_from=0)
    indexer.index_document(document)
    document = save(alice, "/reference/bows", "", started_from=1)
    indexer.index_document(document)

    assert not Chunk.objects.filter(document=document).exists()


def test_the_summary_of_earlier_turns_is_searchable(alice: User) -> None:
    conversation = talk(alice, *TALK)
    segment = Segment.objects.create(
        user=alice, conversation_id=conversation, number=1, first_turn=1, last_turn=2, text="They spoke of Cremona."
    )

    indexer.index_segment(alice.pk, conversation, segment.pk, segment.text, place=4)

    found = Chunk.objects.filter(Q(search="cremona"), kind=Chunk.Kind.SEGMENT).get()
    assert (found.segment_id, found.ref) == (segment.pk, f"segment:{segment.pk}")


def test_nothing_of_alices_talk_is_indexed_for_bob(alice: User, bob: User) -> None:
    talk(alice, *TALK)

    assert not Chunk.objects.for_user(bob).exists()
    assert set(Chunk.objects.values_list("user", flat=True)) == {alice.pk}


def test_the_address_of_a_link_is_not_embedded() -> None:
    chunk = Chunk(heading="Huskies", text="3 turns. [Open the conversation](/c/7488-5a) I like (big) dogs.")
    assert indexer.embedded_text(chunk) == "Huskies: 3 turns. [Open the conversation] I like (big) dogs."
