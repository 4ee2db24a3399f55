"""Labeled questions are asked in their language, for a user who exists only meanwhile."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import User
from memory.evaluation.retrieval import labeled_questions
from memory.evaluation.retrieval.labeled_questions import Asked, Figures, ask_all, figures, people
from memory.models import Fact
from memory.query_encoder.labeled import read_questions
from memory.retrieval.recall import RetrievalResult

DATA = Path(__file__).parents[2] / "data"
BOTH = """
person: one
1 fact: Marek repariert Geigen.
2 said: mein Bruder Arne wohnt in Bergen und backt jeden Sonntag Brot
3 answered: Das Wasser kocht bei hundert Grad.
ask: wer repariert Geigen?
answers: 1
ask: in welcher Stadt wohnt mein Bruder Arne?
answers: 2
person: two
1 fact: Anna spielt Cello.
ask: wie heißt der Hund?
"""


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "asked.ask"
    path.write_text(BOTH)
    return path


def ran(*arguments: Any) -> str:
    out = StringIO()
    call_command("evaluate-questions", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.django_db
def test_facts_and_messages_are_recalled_in_the_language_of_their_user() -> None:
    first, second = people(read_questions(BOTH))
    by_stem = replace(first[0], text="wer hat die Geige repariert?")

    kept = [one.kept[0] for one in ask_all([*first, by_stem], "german", timezone.now())]

    assert kept == [0, 1, 0]
    assert (first[0].kinds, second[0].kinds) == (["fact", "said", "answered"], ["fact"])
    assert not User.objects.exists()
    assert not Fact.objects.exists()


@pytest.mark.django_db
def test_the_user_writes_in_that_language(monkeypatch: pytest.MonkeyPatch) -> None:
    users: list[User] = []

    def record(user: User, *given: Any, **options: Any) -> RetrievalResult:
        users.append(User.objects.get(pk=user.pk))
        return RetrievalResult()

    monkeypatch.setattr(labeled_questions, "retrieve", record)
    list(ask_all(read_questions(BOTH)[-1:], "spanish", timezone.now()))

    assert [(user.language, user.words_in) for user in users] == [("spanish", ["spanish"])]


def test_the_figures_are_first_places_recalled_answers_and_silence() -> None:
    both, one, helped, nothing = read_questions(
        "1 fact: A.\n2 fact: B.\nask: a?\nanswers: 1, 2\nask: b?\nanswers: 2\nask: c?\nhelps: 1\nask: d?"
    )

    found = figures([Asked(both, (1,)), Asked(one, (0, 1)), Asked(helped, ()), Asked(nothing, ())])

    assert found == Figures(answerable=2, hit=50.0, recalled=75.0, unanswerable=1, silent=100.0)


@pytest.mark.django_db
def test_the_command_prints_a_row_a_file_and_what_was_recalled_instead(questions: Path) -> None:
    table = ran(questions, "--language", "german", "--misses").splitlines()

    assert table[0] == "german, all-MiniLM-L6-v2-int8"
    assert table[1].split() == ["answerable", "hit@1", "R@5", "unanswerable", "silent"]
    assert table[2].split()[:4] == ["asked.ask", "2", "100.0", "100.0"]


@pytest.mark.django_db
def test_only_some_people_are_asked_on_request(questions: Path) -> None:
    assert ran(questions, "--people", 2).splitlines()[2].split()[:2] == ["asked.ask", "0"]
    with pytest.raises(CommandError, match="has only 2 people"):
        ran(questions, "--people", 3)


@pytest.mark.django_db
@pytest.mark.parametrize(("text", "sentence"), [(None, "cannot be read"), ("what?", "no line of labeled questions")])
def test_a_file_without_labeled_questions_is_refused(tmp_path: Path, text: str | None, sentence: str) -> None:
    path = tmp_path / "wrong.ask"
    if text:
        path.write_text(text)
    with pytest.raises(CommandError, match=sentence):
        ran(path)


@pytest.mark.parametrize("name", ["asked_de.ask", "asked_es.ask", "asked_fr.ask"])
def test_a_translation_keeps_the_labels_of_its_people(name: str) -> None:
    original = {text.partition("\n")[0]: read_questions(text) for text in _people("asked_dev.ask")}

    for text in _people(name):
        translated, english = read_questions(text), original[text.partition("\n")[0]]
        assert [(one.answers, one.helps) for one in translated] == [(one.answers, one.helps) for one in english]
        assert translated[0].kinds == english[0].kinds


def _people(name: str) -> list[str]:
    return [f"person: {text}" for text in (DATA / name).read_text("utf-8").split("person: ")[1:]]
