"""After forgetting, the text and its distinctive words are nowhere: no table, no file, no later prompt."""

import json
import logging
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pgvector.django import CosineDistance

from accounts.models import User
from budget.models import Receipt
from chat.evaluation.stores import tables_with
from chat.models import Attachment, Conversation, Message, Role
from chat.prompt.assemble import assemble_prompt
from chat.turn import AcceptedTurn
from memory.embeddings.port import embedder
from memory.forgetting.execute import ChangedError, forget, preview
from memory.forgetting.residue import owned_models
from memory.forgetting.targets import NothingThereError, Target, What
from memory.forgetting.verify import search_rows
from memory.index.indexer import EMBEDDED_COLUMNS, embed_pending
from memory.models import Chunk, Document, Episode, Fact, FactLink, ReviewAction
from memory.retrieval.recall import retrieve
from memory.review.decisions import undo
from recall.process.embedded_postgres import Cluster
from recall.redaction import FORGOTTEN
from tests.memory.forgetting.conversation import (
    BREAD,
    OLDER,
    QUOTE,
    SAID,
    STATEMENT,
    WORDS,
    Told,
    exchange,
    learn,
    tell,
    tool,
)
from tests.memory.forgetting.everywhere import files_with

pytestmark = pytest.mark.django_db


def the_fact(told: Told) -> Target:
    return Target(What.FACT, str(told.fact.pk))


def test_the_story_leaves_traces_everywhere(told: Told) -> None:
    found = {name.split(".")[1] for name in tables_with(*WORDS)}
    assert len(found) >= 14, found


def test_a_forgotten_fact_is_in_no_table(told: Told) -> None:
    forget(told.user, the_fact(told), by=told.user)

    assert tables_with(*WORDS, STATEMENT, QUOTE) == {}


def test_words_beside_it_go_though_the_same_sentence_was_in_instructions_too(told: Told) -> None:
    Role.objects.create(user=told.user, name="Guide", instructions=f"Be kind. {QUOTE}.")
    Attachment.objects.create(user=told.user, kind="file", name="a.txt", media_type="text/plain", size=1, text=QUOTE)
    Conversation.objects.filter(pk=told.other.pk).update(title="Quillfeather on the islands")
    path = "/conversations/2026-11-Quillfeather, islands"
    Document.objects.create(user=told.user, path=path, title="Quillfeather, islands", text="1 turn", source="librarian")

    forget(told.user, the_fact(told), by=told.user)

    assert tables_with(*WORDS, STATEMENT, QUOTE) == {}
    assert Role.objects.get().instructions == f"Be kind. {FORGOTTEN}."


def test_a_name_in_a_file_that_was_never_sent_goes(told: Told) -> None:
    draft = {"kind": "file", "name": "a.txt", "media_type": "text/plain", "size": 1}
    Attachment.objects.create(user=told.user, text="Quillfeather is a fine name.", **draft)
    Document.objects.create(user=told.user, path="/notes/Quillfeather", title="Quillfeather", text="A hat.")

    forget(told.user, the_fact(told), by=told.user)

    assert tables_with(*WORDS) == {}


def test_a_name_that_instructions_mention_otherwise_stays(told: Told) -> None:
    Role.objects.create(user=told.user, name="Guide", instructions=f"Zanzibar has fine beaches. {QUOTE}.")

    forget(told.user, the_fact(told), by=told.user)

    assert Role.objects.get().instructions == f"Zanzibar has fine beaches. {FORGOTTEN}."


def test_neither_is_it_in_a_file(told: Told, postgres_server: Cluster) -> None:
    forget(told.user, the_fact(told), by=told.user)

    assert files_with(*WORDS, postgres=postgres_server.data) == []


def test_no_row_carries_the_vector_of_a_forgotten_statement(told: Told) -> None:
    vectors = {one: embedder().embed([one])[0] for one in (STATEMENT, QUOTE, SAID, told.episode.summary)}

    forget(told.user, the_fact(told), by=told.user)
    embed_pending()

    for text, vector in vectors.items():
        for model in EMBEDDED_COLUMNS:
            near = model._default_manager.filter(vector__isnull=False).annotate(d=CosineDistance("vector", vector))
            assert not near.filter(d__lt=0.01).exists(), (text, model)


def test_a_receipt_shows_no_start_of_it_beside_another_memory(told: Told) -> None:
    long = f"The user is learning to bake bread of strong white flour in the warm{', and autumn is mild' * 8}."
    fact = learn(told.user, long, status="active")
    Receipt.objects.filter(pk=told.receipt.pk).update(
        items=[{"ref": "chunk:9", "section": "memories", "kept": True, "label": f"Bread: {long}"[:200],
                "qualifier": f"contested by {fact.ref} ({long[:160]})"}]
    )  # fmt: skip

    forget(told.user, Target(What.FACT, str(fact.pk)), by=told.user)

    (item,) = Receipt.objects.get(pk=told.receipt.pk).items
    assert item["label"] == f"Bread: {FORGOTTEN}"
    assert item["qualifier"] == f"contested by {fact.ref} ({FORGOTTEN})"


def test_the_rest_of_the_message_stays_and_is_found(told: Told) -> None:
    forget(told.user, the_fact(told), by=told.user)

    told.source.refresh_from_db()
    assert told.source.text == f"Guess what. {FORGOTTEN}, and I am learning to bake bread."
    assert [item.ref for item in retrieve(told.user, "learning to bake bread", now=timezone.now()).kept]
    assert Fact.objects.get(pk=told.bread.pk).statement == BREAD


def test_a_conversation_named_after_it_is_untitled(told: Told) -> None:
    forget(told.user, the_fact(told), by=told.user)

    assert told.conversation.title.startswith(QUOTE)
    told.conversation.refresh_from_db()
    assert told.conversation.title == ""


def test_answers_that_knew_of_it_go_and_others_stay(told: Told) -> None:
    forget(told.user, the_fact(told), by=told.user)

    texts = dict(Message.objects.values_list("pk", "text"))
    assert texts[told.recalled.pk] == FORGOTTEN, "it was recalled for it, and told in other words"
    assert texts[told.reply.pk] == FORGOTTEN, "it repeated it"
    assert texts[told.unconcerned.pk] == "Lisbon is mild in autumn."
    assert "Strong white flour." in texts.values()


@pytest.mark.parametrize("names", ["by name", "word for word"])
def test_an_answer_goes_whose_tool_brought_it_up_though_no_receipt_names_it(told: Told, names: str) -> None:
    asked = Conversation.objects.create(user=told.user, title="A trip")
    _, paraphrase = exchange(asked, "Whom could I visit?", "There is somebody of your family far away, by the sea.")
    _, other = exchange(asked, "And what shall I read?", "Something short.")
    shown = {"id": told.fact.ref, "text": STATEMENT[:4]} if names == "by name" else {"text": STATEMENT}
    found = tool(paraphrase, "tool_result", json.dumps({"results": [shown]}), {"id": "1", "is_error": False})
    bread = json.dumps({"results": [{"id": told.bread.ref, "text": BREAD}]})
    tool(other, "tool_result", bread, {"id": "2", "is_error": False})

    forget(told.user, the_fact(told), by=told.user)

    for gone in (paraphrase, found):
        gone.refresh_from_db()
        assert gone.text == FORGOTTEN
    other.refresh_from_db()
    assert other.text == "Something short."
    assert tables_with(*WORDS) == {}


def think(message: Message, thinking: str) -> None:
    Message.objects.filter(pk=message.pk).update(event_data={**message.event_data, "thinking": thinking})


def test_thinking_goes_with_its_answer(told: Told) -> None:
    think(told.recalled, "Their relative is on that island.")

    forget(told.user, the_fact(told), by=told.user)

    assert "thinking" not in Message.objects.get(pk=told.recalled.pk).event_data


@pytest.mark.parametrize("words", [STATEMENT, "Quillfeather moved, so a trip might please them."])
def test_an_answer_that_only_thought_of_it_loses_its_thinking_and_stays(told: Told, words: str) -> None:
    think(told.unconcerned, f"{words} But they asked about autumn.")
    would = preview(told.user, the_fact(told))
    assert would.counts["thinking"] == 1
    assert [item.text for item in would.going if item.what == "thinking"] == [f"{words} But they asked about autumn."]

    forget(told.user, the_fact(told), by=told.user)

    answer = Message.objects.get(pk=told.unconcerned.pk)
    assert answer.text == "Lisbon is mild in autumn."
    assert answer.event_data == {"stop_reason": "end_turn"}
    assert tables_with(*WORDS) == {}


def test_thinking_of_something_else_stays(told: Told) -> None:
    think(told.unconcerned, "Autumn is mild in the south.")

    forget(told.user, the_fact(told), by=told.user)

    assert Message.objects.get(pk=told.unconcerned.pk).event_data["thinking"] == "Autumn is mild in the south."


def test_an_answer_that_failed_after_thinking_of_it_loses_its_thinking(told: Told) -> None:
    _, failed = exchange(told.conversation, "And in winter?", "")
    think(failed, f"{STATEMENT} Winter is warm there.")

    forget(told.user, the_fact(told), by=told.user)

    assert "thinking" not in Message.objects.get(pk=failed.pk).event_data
    assert tables_with(*WORDS) == {}


def test_the_words_of_its_neighbours_are_written_anew(told: Told) -> None:
    near = Chunk.objects.filter(message=told.neighbour)
    assert near.filter(search="quillfeather").exists()

    forget(told.user, the_fact(told), by=told.user)

    assert not Chunk.objects.filter(search="quillfeather").exists()
    assert near.filter(search="flour").exists()


def test_what_it_had_superseded_comes_back_where_the_user_chose_it(told: Told) -> None:
    would = preview(told.user, the_fact(told))
    assert [one.text for one in would.coming_back] == [OLDER]
    chosen = [one.ref for one in would.coming_back]

    receipt = forget(told.user, the_fact(told), by=told.user, expected=would.fingerprint, restore=chosen)

    told.older.refresh_from_db()
    assert (told.older.status, told.older.superseded_by, told.older.superseded_at) == ("active", None, None)
    assert receipt.restored == 1


def test_the_dry_run_is_the_deed(told: Told) -> None:
    before = everything_of(told.user)
    would = preview(told.user, the_fact(told))
    assert everything_of(told.user) == before, "a dry run changes nothing"

    assert not any(one.text for one in would.going if one.what == "link"), "a bare “Supersedes” says nothing"

    receipt = forget(told.user, the_fact(told), by=told.user, expected=would.fingerprint)

    assert receipt.gone == dict(would.counts)
    for model, what in ((Fact, "fact"), (Episode, "episode"), (Document, "document"), (FactLink, "link")):
        assert len(before[model]) - model._default_manager.count() == would.counts[what], what
    erased = Message.objects.filter(text=FORGOTTEN).count()
    assert erased + 1 == sum(would.counts[what] for what in ("answer", "given", "tool text", "quote"))
    assert all(would.counts[what] for what in ("summary", "title", "line", "receipt", "snapshot", "vector", "passage"))


def test_it_is_refused_where_something_changed_since_it_was_shown(told: Told) -> None:
    would = preview(told.user, the_fact(told))
    learn(told.user, STATEMENT, status="archived")

    with pytest.raises(ChangedError):
        forget(told.user, the_fact(told), by=told.user, expected=would.fingerprint)

    assert Fact.objects.filter(pk=told.fact.pk).exists()


def test_the_receipt_proves_it_and_tells_nothing(told: Told) -> None:
    receipt = forget(told.user, the_fact(told), by=told.user)

    assert (receipt.found_again, receipt.checked_at is not None, receipt.by) == (0, True, told.user)
    assert search_rows(told.user, "Quillfeather") == {}


def test_bobs_rows_are_unchanged(told: Told, bob: User) -> None:
    tell(bob)
    before = everything_of(bob)

    forget(told.user, the_fact(told), by=told.user)

    assert everything_of(bob) == before


def test_undoing_what_was_decided_before_does_not_bring_it_back(told: Told) -> None:
    action = ReviewAction.objects.create(
        user=told.user, fact=told.bread, verb="reject", by=told.user,
        before={str(told.bread.pk): {"status": "active"}, str(told.fact.pk): {"statement": STATEMENT}},
    )  # fmt: skip
    Fact.objects.filter(pk=told.bread.pk).update(status="rejected")

    forget(told.user, the_fact(told), by=told.user)
    undo(action)

    assert tables_with(*WORDS) == {}
    assert Fact.objects.get(pk=told.bread.pk).status == "active"


def test_tasks_nudges_and_logs_carry_no_word_of_it(
    told: Told,
    queued: list[Any],
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Any,
) -> None:
    caplog.set_level(logging.DEBUG)
    with CaptureQueriesContext(connection) as queries, django_capture_on_commit_callbacks(execute=True):
        forget(told.user, the_fact(told), by=told.user)

    notified = [query["sql"] for query in queries if "pg_notify" in query["sql"]]
    logged = [record.getMessage() for record in caplog.records if record.name != "django.db.backends"]
    assert queued
    assert notified
    for text in (str(queued), *notified, *logged):
        assert not any(word in text.lower() for word in WORDS), text


def test_it_is_in_no_later_prompt(told: Told, django_capture_on_commit_callbacks: Any) -> None:
    forget(told.user, the_fact(told), by=told.user, restore=[told.older.ref])

    for conversation in (told.conversation, told.other):
        question, answer = exchange(conversation, "Where does my cousin live, and what about Zanzibar?", "")
        conversation.refresh_from_db()
        compiled = assemble_prompt(AcceptedTurn(conversation, question, answer, created=False, is_duplicate=False))
        asked = question.text
        rest = json.dumps(compiled.request, default=str).replace(asked, "")
        assert not any(word in rest.lower() for word in WORDS), rest
        assert OLDER in rest or "lives in Porto" in rest, "what came back is known again"


def test_a_second_forgetting_finds_nothing_of_the_first(told: Told) -> None:
    forget(told.user, the_fact(told), by=told.user)

    with pytest.raises(NothingThereError):
        preview(told.user, the_fact(told))


def test_what_is_stated_anew_is_a_new_statement(told: Told) -> None:
    forget(told.user, the_fact(told), by=told.user)

    fact = learn(told.user, STATEMENT, status="active")

    assert [item.ref for item in retrieve(told.user, "cousin Quillfeather", now=timezone.now()).kept][:1] == [fact.ref]


def everything_of(user: User) -> dict[Any, list[Any]]:
    """Every row of the user, in every model."""
    return {model: list(model._base_manager.filter(user=user.pk).order_by("pk").values()) for model in owned_models()}
