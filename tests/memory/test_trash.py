"""A deleted document can be restored unchanged for half an hour; after that, or after any forgetting, it can't."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from memory import tasks, trash
from memory.documents import revisions, tree
from memory.documents.profile_updates import refresh_profile
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.index.indexer import embed_pending
from memory.models import Chunk, DeletedDocument, Document, Fact, Revision
from memory.retrieval.recall import retrieve
from recall.schedule import BEAT_SCHEDULE

NOW = timezone.now


def written(user: User, path: str, *texts: str) -> Document:
    """A document with a version for each text."""
    for number, text in enumerate(texts):
        document = revisions.save(user, path, text, started_from=number)
    return document


def found(user: User, words: str) -> list[str]:
    return [item.text for item in retrieve(user, words, now=NOW()).kept]


def paths_of(user: User) -> list[str]:
    return sorted(Document.objects.for_user(user).values_list("path", flat=True))


def as_it_stands(document: Document) -> dict[str, Any]:
    """All its columns, and those of its versions."""
    row = Document.objects.filter(pk=document.pk).values().get()
    return {**row, "versions": list(Revision.objects.filter(document=document).order_by("number").values())}


def test_a_folder_comes_back_with_versions_tags_and_dates_as_it_was(alice: User) -> None:
    soil = written(alice, "/garden/soil", "Sand.", "Clay, with slugs in spring.")
    tree.set_tags(soil, ["garden"])
    roses = written(alice, "/garden/roses", "Mary's roses are white.")
    before = [as_it_stands(one) for one in (soil, roses)]

    moment, gone = trash.delete(alice, "/garden")
    assert gone == ["/garden/roses", "/garden/soil"]
    assert not Document.objects.exists()
    assert not Revision.objects.exists()
    assert not Chunk.objects.exists()

    assert [one.path for one in trash.undo(alice, moment)] == ["/garden/roses", "/garden/soil"]
    assert [as_it_stands(one) for one in (soil, roses)] == before
    assert not DeletedDocument.objects.exists()


def test_it_is_recalled_before_and_after_and_not_between(alice: User) -> None:
    written(alice, "/garden/soil", "The soil behind the shed is heavy clay.")
    embed_pending()
    assert found(alice, "What is the soil behind the shed?")

    moment, _ = trash.delete(alice, "/garden/soil")
    assert not found(alice, "What is the soil behind the shed?")

    trash.undo(alice, moment)
    embed_pending()
    assert found(alice, "What is the soil behind the shed?") == ["The soil behind the shed is heavy clay."]


def test_facts_that_its_lines_told_hold_again(alice: User) -> None:
    fact = Fact.objects.create(
        user=alice, statement="The user lives in Lisbon.", kind="identity", key="user/home", value="Lisbon",
        status="active",
        confidence=0.9, importance=0.9, quote="I live in Lisbon.",
    )  # fmt: skip
    refresh_profile(alice)
    text = Document.objects.get(path="/profile/identity").text

    moment, _ = trash.delete(alice, "/profile")
    fact.refresh_from_db()
    assert fact.status == Fact.Status.REJECTED

    trash.undo(alice, moment)
    fact.refresh_from_db()
    assert fact.status == Fact.Status.ACTIVE
    assert Document.objects.get(path="/profile/identity").text == text


def test_a_fact_that_was_decided_on_since_stays_as_it_is(alice: User) -> None:
    fact = Fact.objects.create(
        user=alice, statement="The user lives in Lisbon.", kind="identity", key="user/home", value="Lisbon",
        status="active",
        confidence=0.9, importance=0.9, quote="I live in Lisbon.",
    )  # fmt: skip
    refresh_profile(alice)
    moment, _ = trash.delete(alice, "/profile")
    Fact.objects.filter(pk=fact.pk).update(status=Fact.Status.EXPIRED)

    assert [one.path for one in trash.undo(alice, moment)] == ["/profile/identity"]
    fact.refresh_from_db()
    assert fact.status == Fact.Status.EXPIRED


def test_what_was_written_meanwhile_stays_and_the_old_one_stands_beside_it(alice: User) -> None:
    written(alice, "/notes/boat.md", "Wooden.")
    moment, _ = trash.delete(alice, "/notes/boat.md")
    written(alice, "/notes/boat.md", "Steel.")

    assert [one.path for one in trash.undo(alice, moment)] == ["/notes/boat (2).md"]
    texts = dict(Document.objects.for_user(alice).values_list("path", "text"))
    assert texts == {"/notes/boat.md": "Steel.", "/notes/boat (2).md": "Wooden."}


def test_a_file_of_the_same_source_that_came_again_keeps_its_name_there(alice: User) -> None:
    origin = revisions.Origin(Document.Source.SYNC, "vault:boat", "hash")
    revisions.add(alice, "/vault/boat", "Wooden.", Revision.Author.SYNC, origin)
    moment, _ = trash.delete(alice, "/vault/boat")
    revisions.add(alice, "/vault/new boat", "Steel.", Revision.Author.SYNC, origin)

    [back] = trash.undo(alice, moment)
    assert (back.path, back.external_id) == ("/vault/boat", "")
    assert Document.objects.get(path="/vault/new boat").external_id == "vault:boat"


def test_an_empty_beginning_gives_its_place_back(alice: User) -> None:
    written(alice, "/profile/identity", "I am called Alice.")
    moment, _ = trash.delete(alice, "/profile/identity")
    revisions.beginnings(alice)  # opening the profile

    assert [one.path for one in trash.undo(alice, moment)] == ["/profile/identity"]
    assert Document.objects.get(path="/profile/identity").text == "I am called Alice."


def test_each_deletion_comes_back_once_and_by_itself(alice: User) -> None:
    written(alice, "/a", "One.")
    written(alice, "/b", "Two.")
    first, _ = trash.delete(alice, "/a")
    second, _ = trash.delete(alice, "/b")

    assert [one.path for one in trash.undo(alice, first)] == ["/a"]
    assert trash.undo(alice, first) == []
    assert paths_of(alice) == ["/a"]
    assert [one.path for one in trash.undo(alice, second)] == ["/b"]


def test_bob_brings_back_nothing_of_alices(alice: User, bob: User) -> None:
    written(alice, "/a", "One.")
    moment, _ = trash.delete(alice, "/a")

    assert trash.delete(bob, "/a")[1] == []
    assert trash.undo(bob, moment) == []
    assert DeletedDocument.objects.for_user(alice).count() == 1


def test_after_half_an_hour_the_clock_takes_it_for_good(alice: User) -> None:
    written(alice, "/a", "One.")
    moment, _ = trash.delete(alice, "/a")
    assert BEAT_SCHEDULE["empty-trash-of-documents"]["task"] == tasks.empty_trash.name

    tasks.empty_trash()
    assert DeletedDocument.objects.count() == 1
    assert trash.empty(moment + trash.UNDO_FOR - timedelta(seconds=1)) == 0
    assert trash.empty(moment + trash.UNDO_FOR) == 1
    assert trash.undo(alice, moment) == []


@pytest.mark.parametrize("target", [Target(What.EVERYTHING), Target(What.DOCUMENT, "/boats")])
def test_once_anything_is_forgotten_nothing_deleted_comes_back(alice: User, bob: User, target: Target) -> None:
    written(alice, "/a", "My boat is called Ulla.")
    written(alice, "/boats", "About my boat.")
    written(bob, "/b", "My boat is called Olaf.")
    moment, _ = trash.delete(alice, "/a")
    trash.delete(bob, "/b")

    forget(alice, target, by=alice)
    assert trash.undo(alice, moment) == []
    assert DeletedDocument.objects.for_user(bob).count() == 1


@pytest.mark.parametrize("deed", ["delete", "undo"])
def test_nothing_is_forgotten_while_documents_go_or_come_back(deed: str, alice: User) -> None:
    written(alice, "/projects/garden", "Of garlic.")
    moment, _ = trash.delete(alice, "/projects")
    with CaptureQueriesContext(connection) as asked:
        if deed == "undo":
            trash.undo(alice, moment)
        else:
            trash.delete(alice, "/projects")
    first = next(
        captured_query["sql"]
        for captured_query in asked.captured_queries
        if not captured_query["sql"].startswith("SAVEPOINT")
    )
    assert "accounts_user" in first
    assert "FOR NO KEY UPDATE" in first
