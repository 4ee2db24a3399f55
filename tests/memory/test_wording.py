"""Words are found in all their forms in the language their person writes in, also after it is another."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from accounts.languages import Language, of_browser
from accounts.models import User
from memory import indexing, wording
from memory.models import Chunk, Episode, Fact
from memory.retrieval import MemoryItem, recall
from tests.memory.test_retrieval import NOW, document, episode, talk

HOUSES = "Wir haben zwei alte Häuser in Kiel renoviert."
QUESTION = "Welches Haus?"


def write_in(user: User, language: Language, *, at_once: bool = True) -> User:
    user.language = language
    user.words_in = language if at_once else user.words_in
    user.save()
    return user


def found(user: User, question: str) -> list[MemoryItem]:
    recollection = recall(user, question, now=NOW)
    return [*recollection.kept, *(one.item for one in recollection.cut)]


def keyword_part(user: User, question: str) -> float:
    """How well the words of what is found fit; nothing found counts as nothing."""
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

    assert wording.reword_due() == 1
    alice.refresh_from_db()
    assert alice.words_in == Language.GERMAN
    for rows in (Fact.objects, Episode.objects, Chunk.objects.filter(text=HOUSES)):
        assert not rows.filter(user=alice).exclude(search="haus").exists()
    assert keyword_part(alice, QUESTION) > 0
    assert wording.reword_due() == 0


def test_only_the_words_of_those_who_changed_are_read_anew(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    monkeypatch.setattr(wording, "restore_words", read.append)
    write_in(bob, Language.FINNISH, at_once=False)

    assert wording.reword_due() == 1
    assert read == [bob.pk]


def test_who_changes_their_mind_meanwhile_is_due_again(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    write_in(alice, Language.GERMAN, at_once=False)
    by_talk(alice)

    def slowly(user_id: int) -> None:
        User.objects.filter(pk=user_id).update(language=Language.DUTCH)
        indexing.restore_words(user_id)

    monkeypatch.setattr(wording, "restore_words", slowly)
    wording.reword_due()
    alice.refresh_from_db()
    assert (alice.language, alice.words_in) == (Language.DUTCH, Language.ENGLISH)

    monkeypatch.undo()
    assert wording.reword_due() == 1
