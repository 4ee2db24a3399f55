"""A question is read with the cues of its own language, of those that its user writes in."""

from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest
from django.utils import timezone

from accounts.languages import Language
from accounts.models import User
from memory.embeddings.limits import MINILM
from memory.embeddings.scale import Scale
from memory.index.indexer import embed_pending
from memory.models import Fact
from memory.retrieval import candidates
from memory.retrieval.candidates import calibration
from memory.retrieval.cues import CUES, cues_for
from memory.retrieval.query import Question, names_a_time, parse_question
from memory.retrieval.ranking import MEASURED, Candidate, calibrate, rerank
from memory.retrieval.recall import retrieve

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def asked(text: str, language: str, *context: str) -> Question:
    return parse_question(text, (), NOW, context, languages=[language])


# Which language --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "languages", "read_in"),
    [
        ("was war ich von Beruf?", ["german"], "german"),
        ("was I a baker?", ["german"], "german"),
        ("was war ich von Beruf?", ["english", "german"], "german"),
        ("where was I when she called?", ["german", "english"], "english"),
        ("¿dónde vive mi hermana?", ["french", "spanish"], "spanish"),
        ("mikä oli ammattini?", ["finnish"], "english"),
        ("¿dónde vive mi hermana?", ["finnish", "spanish"], "spanish"),
        ("what was it?", [], "english"),
    ],
)
def test_a_question_is_read_in_its_language_of_those_its_user_writes_in(
    question: str, languages: list[str], read_in: str
) -> None:
    assert cues_for(question, languages).language == read_in


def test_every_table_is_of_a_language_that_can_be_chosen() -> None:
    assert CUES.keys() <= set(Language.values)


# What it asks for ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "question", "cue"),
    [
        ("german", "Bis wann muss der Vertrag verlängert sein?", "when"),
        ("german", "An welchem Tag spiele ich Bowling?", "when"),
        ("german", "Was hab ich für das Boot gekriegt?", "past"),
        ("german", "Wo habe ich früher gewohnt?", "past"),
        ("german", "Wo arbeite ich zurzeit?", "latest"),
        ("spanish", "¿para cuándo tengo que contestar?", "when"),
        ("spanish", "¿qué día nacieron los gemelos?", "when"),
        ("spanish", "¿Dónde vivíamos antes?", "past"),
        ("spanish", "¿dónde trabajo ahora?", "latest"),
        ("french", "c'est quand, mon dernier jour ?", "when"),
        ("french", "c'est quel jour ma pratique", "when"),
        ("french", "je travaillais dans quelle banque ?", "past"),
        ("french", "où est-ce que j'habite en ce moment ?", "latest"),
    ],
)
def test_what_a_question_asks_for_is_read_in_other_languages(language: str, question: str, cue: str) -> None:
    found = asked(question, language)

    assert {"when": found.wants_time, "past": found.asks_past, "latest": found.wants_latest}[cue]


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("german", "was ist mein Lieblingsessen?"),
        ("german", "Was habe ich gesagt, wohin ich ziehe?"),
        ("spanish", "¿cómo se llama mi suegra?"),
        ("french", "il s'appelle comment mon chef ?"),
    ],
)
def test_a_plain_question_asks_for_no_time(language: str, question: str) -> None:
    found = asked(question, language)

    assert (found.wants_time, found.asks_past, found.wants_latest, found.periods) == (False, False, False, ())


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("german", "Und wo arbeitet sie?"),
        ("spanish", "¿Y dónde trabaja ella?"),
        ("french", "Et elle travaille où ?"),
    ],
)
def test_a_follow_up_takes_names_from_the_turns_before(language: str, question: str) -> None:
    assert asked(question, language, "Marion").context == "Marion"
    assert asked("Montevideo?", language, "Marion").context == ""


@pytest.mark.parametrize("language", ["german", "spanish", "french"])
def test_no_question_is_put_in_the_english_third_person(language: str) -> None:
    assert asked("a mine I me us my", language).semantic_query == "a mine I me us my"


@pytest.mark.parametrize(
    ("language", "question", "searched"),
    [
        ("german", "Wann kommt das Baby?", "kommt Baby?"),
        ("spanish", "¿Cuánto mide Rui?", "mide Rui?"),
        ("french", "c'est combien le foyer ?", "c'est foyer ?"),
        ("english", "When is the baby due?", "When is the baby due?"),
    ],
)
def test_words_that_name_nothing_are_not_searched_for(language: str, question: str, searched: str) -> None:
    assert asked(question, language).keyword_query == searched


# Times -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "question", "first", "last"),
    [
        ("german", "Was war am 7. Mai 2023?", date(2023, 5, 7), date(2023, 5, 7)),
        ("german", "Was geschah im März 2023?", date(2023, 3, 1), date(2023, 3, 31)),
        ("german", "Was war vor drei Wochen?", date(2026, 10, 28), date(2026, 11, 3)),
        ("german", "Was war letzte Woche?", date(2026, 11, 8), date(2026, 11, 20)),
        ("german", "Was sagte ich gestern?", date(2026, 11, 20), date(2026, 11, 20)),
        ("spanish", "¿Qué pasó el 7 de mayo de 2023?", date(2023, 5, 7), date(2023, 5, 7)),
        ("spanish", "¿y en marzo del 2023?", date(2023, 3, 1), date(2023, 3, 31)),
        ("spanish", "¿qué dije hace tres semanas?", date(2026, 10, 28), date(2026, 11, 3)),
        ("spanish", "¿y la semana pasada?", date(2026, 11, 8), date(2026, 11, 20)),
        ("french", "Que s'est-il passé le 1er mai 2023 ?", date(2023, 5, 1), date(2023, 5, 1)),
        ("french", "et en mars 2023 ?", date(2023, 3, 1), date(2023, 3, 31)),
        ("french", "j'ai dit quoi il y a trois semaines ?", date(2026, 10, 28), date(2026, 11, 3)),
        ("french", "et la semaine dernière ?", date(2026, 11, 8), date(2026, 11, 20)),
    ],
)
def test_dates_are_read_in_other_languages(language: str, question: str, first: date, last: date) -> None:
    (period,) = asked(question, language).periods

    assert (period.first, period.last) == (first, last)


def test_mars_is_a_month_only_where_one_is_meant() -> None:
    assert asked("pourquoi le ciel de Mars est rose", "french").periods == ()
    assert [period.first.month for period in asked("et en mars ?", "french").periods] == [3]


@pytest.mark.parametrize(
    ("language", "passage"),
    [
        ("german", "Der Termin ist am 19. Dezember."),
        ("spanish", "Los jueves ensayo."),
        ("french", "On y va en juillet."),
    ],
)
def test_a_passage_that_names_a_time_is_known(language: str, passage: str) -> None:
    assert names_a_time(passage, CUES[language])


# Ranking ---------------------------------------------------------------------------------------------------------


def test_an_article_at_the_start_of_a_statement_is_no_name() -> None:
    one = Candidate("fact:1", "Der Nutzer heißt Nils.", NOW, 0.5, 0.5, importance=0.5, times_used=0)
    other = Candidate("fact:2", "Marek repariert Geigen.", NOW, 0.5, 0.5, importance=0.5, times_used=0)

    ranked = rerank(
        asked("wo hat der Marek studiert", "german"), [one, other], MEASURED, NOW, calibration=calibration(MINILM)
    )

    assert {row.candidate.ref: row.parts["name_match"] for row in ranked} == {"fact:1": 0.0, "fact:2": 1.0}


@pytest.mark.django_db
@pytest.mark.parametrize(("language", "recalled"), [(Language.GERMAN, False), (Language.ENGLISH, True)])
def test_a_statement_must_be_nearer_in_a_language_that_the_model_reads_less_well(
    alice: User, language: str, recalled: bool
) -> None:
    User.objects.filter(pk=alice.pk).update(language=language, words_in=[language])
    alice.refresh_from_db()
    Fact.objects.create(
        user=alice,
        statement="Ingrid, die Tochter des Nutzers, lebt mit ihren zwei Jungen in Trondheim.",
        status="active",
    )
    embed_pending()

    found = retrieve(alice, "Wie viele Seemeilen sind es bis zum Mond", now=timezone.now())

    assert bool(found.kept) is recalled


def test_a_model_of_a_folder_has_its_own_scale_in_all_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = Scale(unrelated=0.78, related=0.86)
    monkeypatch.setattr(candidates, "embedder", lambda: SimpleNamespace(scale=scale))

    assert calibration("some-multilingual-model", "german") == calibrate(scale) != calibration(MINILM)
    assert calibration(MINILM, "finnish") is calibration(MINILM)
