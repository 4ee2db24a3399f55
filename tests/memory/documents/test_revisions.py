"""Every save is a revision and is found by its words at once; a document from elsewhere knows its origin."""

import pytest
from django.contrib.postgres.search import SearchQuery
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from memory.documents.revisions import (
    PART,
    DocumentChangedError,
    Origin,
    PathTakenError,
    add,
    changes,
    part,
    replace_text,
    revert,
    save,
)
from memory.models import Chunk, Document, Revision

ORIGIN = Origin(Document.Source.UPLOAD, external_id="", content_hash="a" * 64)


def test_a_saved_text_is_found_by_its_words_at_once(alice: User) -> None:
    save(alice, "/notes/roses", "Roses are red.", started_from=0)
    document = save(alice, "/notes/roses", "Tulips are yellow.", started_from=1)

    assert [chunk.text for chunk in Chunk.objects.filter(document=document)] == ["Tulips are yellow."]
    assert Chunk.objects.filter(search=SearchQuery("tulip", config="english")).count() == 1
    assert not Chunk.objects.filter(search=SearchQuery("rose", config="english")).exists()


def test_an_emptied_document_is_found_no_more(alice: User) -> None:
    save(alice, "/notes/roses", "Roses are red.", started_from=0)

    save(alice, "/notes/roses", "", started_from=1)

    assert not Chunk.objects.exists()


def test_the_same_text_again_is_no_revision(alice: User) -> None:
    save(alice, "/notes/roses", "Roses are red.", started_from=0)
    save(alice, "/notes/roses", "Roses are red.", started_from=1)

    assert Revision.objects.count() == 1


def test_a_save_over_a_newer_version_is_refused(alice: User) -> None:
    save(alice, "/notes/roses", "one", started_from=0)
    save(alice, "/notes/roses", "two", started_from=1)

    with pytest.raises(DocumentChangedError, match="Nothing was saved"):
        save(alice, "/notes/roses", "three", started_from=1)
    assert Document.objects.get().text == "two"


def test_going_back_is_a_revision_of_its_own_and_found_again(alice: User) -> None:
    save(alice, "/notes/roses", "Roses are red.", started_from=0)
    document = save(alice, "/notes/roses", "Tulips are yellow.", started_from=1)

    back = revert(document, 1, started_from=2)

    assert [(revision.number, revision.text) for revision in back.revisions.order_by("number")] == [
        (1, "Roses are red."),
        (2, "Tulips are yellow."),
        (3, "Roses are red."),
    ]
    assert [chunk.text for chunk in Chunk.objects.all()] == ["Roses are red."]


def test_a_document_from_elsewhere_knows_its_origin_and_author(alice: User) -> None:
    document = add(alice, "/reference/roses.pdf", "Roses\x00.", Revision.Author.IMPORT, ORIGIN, title="Roses")

    document.refresh_from_db()
    assert (document.source, document.content_hash, document.title) == ("upload", "a" * 64, "Roses")
    assert document.text == "Roses."
    assert [(revision.number, revision.author) for revision in document.revisions.all()] == [(1, "import")]


def test_a_document_is_not_added_where_one_stands(alice: User, bob: User) -> None:
    save(alice, "/a", "mine", started_from=0)

    with pytest.raises(PathTakenError, match="There is already a document at /a"):
        add(alice, "/a", "theirs", Revision.Author.IMPORT, ORIGIN)
    assert add(bob, "/a", "theirs", Revision.Author.IMPORT, ORIGIN).text == "theirs"
    assert Document.objects.for_user(alice).get().text == "mine"


def test_a_document_is_not_added_where_no_path_is(alice: User) -> None:
    with pytest.raises(ValidationError):
        add(alice, "roses", "x", Revision.Author.IMPORT, ORIGIN)


def test_a_text_that_is_replaced_keeps_what_was_there_as_history(alice: User) -> None:
    document = add(alice, "/a", "one", Revision.Author.SYNC, ORIGIN)
    save(alice, "/a", "my own", started_from=1)

    replaced = replace_text(document, "two", Revision.Author.SYNC, "b" * 64)

    assert replaced.content_hash == "b" * 64
    assert [(revision.author, revision.text) for revision in replaced.revisions.order_by("number")] == [
        ("sync", "one"),
        ("user", "my own"),
        ("sync", "two"),
    ]


def test_a_text_that_was_deleted_is_not_replaced(alice: User) -> None:
    document = add(alice, "/a", "one", Revision.Author.SYNC, ORIGIN)
    Document.objects.all().delete()

    with pytest.raises(Document.DoesNotExist):
        replace_text(document, "two", Revision.Author.SYNC, "b" * 64)


@given(st.text(st.characters(codec="ascii"), max_size=200), st.integers(1, 400), st.integers(-3, 40))
def test_the_parts_of_a_text_are_the_text(words: str, times: int, number: int) -> None:
    text = f"{words}\n\n" * times
    first = part(text, 1)

    parts = [part(text, one) for one in range(1, first.of + 1)]

    assert "".join(one.text for one in parts) == text
    assert all(len(one.text) <= PART for one in parts)
    assert 1 <= part(text, number).number <= first.of


@given(st.text(max_size=300), st.text(max_size=300))
def test_the_changes_between_two_texts_tell_both(old: str, new: str) -> None:
    told = changes(old, new)

    assert "".join(change.text for change in told if change.what != "inserted") == old
    assert "".join(change.text for change in told if change.what != "deleted") == new
