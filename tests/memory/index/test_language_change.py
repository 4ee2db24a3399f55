"""Words are found in all their forms in the language the user writes in, even after it changes."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection

from accounts.languages import Language, of_browser
from accounts.models import User
from memory.index import language_change
from memory.index.indexer import word_restorers
from memory.models import Chunk, Episode, Fact, PersonalIndex
from memory.retrieval.recall import MemoryItem, retrieve
from tests.memory.retrieval.test_recall import NOW, document, episode, talk

HOUSES = "Wir haben zwei alte Häuser in Kiel renoviert."
QUESTION = "Welches Haus?"


def write_in(user: User, language: Language, *, at_once: bool = True) -> User:
    user.language = language
    user.save(update_fields=["language"])
    if at_once:
        User.objects.filter(pk=user.pk).update(words_in=[language])
    user.refresh_from_db()
    return user


def reword_due() -> int:
    return sum(language_change.rebuild_search_vectors(user_id) for user_id in language_change.due())


def found(user: User, question: str) -> list[MemoryItem]:
    recollection = retrieve(user, question, now=NOW)
    return [*recollection.kept, *(one.item for one in recollection.cut)]


def keyword_part(user: User, question: str) -> float:
    """How well the words of the results match; no result counts as nothing."""
    return max((item.parts["keyword"] for item in found(user, question)), default=0.0)


def by_fact(user: User) -> None:
    Fact.objects.create(user=user, statement=HOUSES, status=Fact.Status.ACTIVE)


def by_episode(user: User) -> None:
    episode(user, "Renovieren", HOUSES)


def by_document(user: User) -> None:
    document(user, "/notes/kiel", HOUSES)


def by_talk(user: User) -> None:
    talk(user, HOUSES, "Schön!")


@pytest.mark.django_db
def test_each_language_is_one_that_the_database_reads() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cfgname FROM pg_ts_config")
        assert set(Language.values) <= {name for (name,) in cursor.fetchall()}


@pytest.mark.parametrize(
    ("accepts", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", Language.GERMAN),
        ("en-GB", Language.ENGLISH),
        ("nb", Language.NORWEGIAN),
        ("ja,en;q=0.8", Language.ANOTHER),
        ("en;q=0.5,fr;q=0.9", Language.FRENCH),
        ("*", Language.ENGLISH),
        ("", Language.ENGLISH),
        ("§§§", Language.ENGLISH),
    ],
)
def test_a_browser_says_which_language_somebody_reads_first(accepts: str, language: Language) -> None:
    assert of_browser(accepts) == language


@pytest.mark.parametrize("keep", [by_fact, by_episode, by_document, by_talk])
def test_a_word_is_found_in_its_other_forms_in_the_persons_language(alice: User, bob: User, keep: Any) -> None:
    for person, language in ((alice, Language.GERMAN), (bob, Language.ENGLISH)):
        keep(write_in(person, language))

    assert keyword_part(alice, QUESTION) > 0
    assert keyword_part(bob, QUESTION) == 0


def test_a_language_without_a_stemmer_is_found_by_its_words_as_they_stand(alice: User) -> None:
    write_in(alice, Language.ANOTHER)
    by_fact(alice)

    assert keyword_part(alice, "Häuser?") > 0
    assert keyword_part(alice, QUESTION) == 0


def test_a_changed_statement_is_read_in_the_persons_language_too(alice: User) -> None:
    write_in(alice, Language.GERMAN)
    by_fact(alice)
    Fact.objects.for_user(alice).update(statement="Das Boot hat neue Segel.")

    assert keyword_part(alice, QUESTION) == 0
    assert keyword_part(alice, "Welches Segel, welche Boote?") > 0


def test_while_a_change_of_language_lasts_nothing_is_lost_and_after_it_all_forms_are_found(alice: User) -> None:
    for keep in (by_fact, by_episode, by_document, by_talk):
        keep(alice)
    assert keyword_part(alice, "Häuser?") > 0

    write_in(alice, Language.GERMAN, at_once=False)
    assert keyword_part(alice, "Häuser?") > 0

    assert reword_due() == 1
    alice.refresh_from_db()
    assert alice.words_in == [Language.GERMAN]
    for rows in (Fact.objects, Episode.objects, Chunk.objects.filter(text=HOUSES)):
        assert not rows.filter(user=alice).exclude(search="haus").exists()
    assert keyword_part(alice, QUESTION) > 0
    assert reword_due() == 0


def test_only_the_words_of_those_who_changed_are_read_anew(alice: User, bob: User) -> None:
    write_in(bob, Language.FINNISH, at_once=False)

    assert language_change.due() == [bob.pk]


def test_who_changes_their_mind_meanwhile_is_due_again(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    by_talk(alice)
    write_in(alice, Language.GERMAN, at_once=False)

    def slowly(user_id: int) -> Iterator[Callable[[], None]]:
        write_in(alice, Language.DUTCH, at_once=False)
        return word_restorers(user_id)

    monkeypatch.setattr(language_change, "word_restorers", slowly)
    language_change.rebuild_search_vectors(alice.pk)
    alice.refresh_from_db()
    assert alice.language == Language.DUTCH
    assert {*alice.words_in} == {Language.ENGLISH, Language.GERMAN, Language.DUTCH}

    monkeypatch.undo()
    assert reword_due() == 1
    alice.refresh_from_db()
    assert alice.words_in == [Language.DUTCH]


def test_who_goes_back_to_the_former_language_keeps_what_was_said_between(alice: User) -> None:
    by_fact(alice)
    write_in(alice, Language.GERMAN, at_once=False)
    Fact.objects.create(user=alice, statement="Der Hund mag Äpfel.", status=Fact.Status.ACTIVE)
    write_in(alice, Language.ENGLISH, at_once=False)
    assert keyword_part(alice, "Äpfel?") > 0

    assert reword_due() == 1
    alice.refresh_from_db()
    assert alice.words_in == [Language.ENGLISH]
    assert keyword_part(alice, "Äpfel?") > 0


def test_what_is_in_the_right_language_is_not_written_again(alice: User) -> None:
    write_in(alice, Language.GERMAN, at_once=False)
    for keep in (by_fact, by_episode, by_document, by_talk):
        keep(alice)

    def written() -> list[tuple[object, ...]]:
        with connection.cursor() as cursor:
            found = []
            for table in ("memory_fact", "memory_episode", "memory_chunk"):
                cursor.execute(f"SELECT ctid::text, id FROM {table} WHERE user_id = %s ORDER BY id", [alice.pk])
                found += cursor.fetchall()
            return found

    before = written()
    assert language_change.rebuild_search_vectors(alice.pk)
    assert written() == before


def test_an_account_that_goes_meanwhile_ends_it(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    write_in(alice, Language.GERMAN, at_once=False)
    by_fact(alice)
    monkeypatch.setattr(language_change, "try_lock_user", lambda _: False)
    assert language_change.rebuild_search_vectors(alice.pk)
    assert language_change.due() == [alice.pk]


def test_a_large_collections_common_words_are_counted_anew(alice: User, queued: list[Any]) -> None:
    write_in(alice, Language.GERMAN, at_once=False)
    PersonalIndex.objects.create(user=alice, rows=30_000, built_at=NOW)
    language_change.rebuild_search_vectors(alice.pk)
    assert PersonalIndex.objects.get().built_at is None
