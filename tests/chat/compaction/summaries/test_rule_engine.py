"""The rule engine: it picks what was said, and writes nothing of its own."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.compaction.summaries.rule_engine import RuleEngine, kind_of
from chat.compaction.summaries.schema import Exchange, Summary, Verbosity, render
from memory.embeddings.port import embedder
from memory.retrieval.query import parse_question
from memory.retrieval.ranking import CALIBRATIONS
from recall.llm.tokens import count_tokens

WHEN = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

DATABASES = (
    ("Hi! I'm choosing a vector database for a search app. What is FAISS?", "A library for similarity search."),
    ("How does pgvector compare with FAISS?", "pgvector is an extension of PostgreSQL; FAISS lives in memory."),
    ("Does pgvector support HNSW indexes?", "Yes, pgvector supports HNSW and IVFFlat indexes."),
    ("Thanks! Which one uses less memory?", "IVFFlat uses less memory than HNSW."),
    ("I prefer tools that run inside PostgreSQL, because we already operate it.", "Then pgvector fits."),
    ("Let's use pgvector with an HNSW index.", "Good choice."),
    ("It turns out our slow queries came from a missing index.", "That explains it."),
    ("I need to benchmark both by Friday. Remind me to ask Maria Silva about the dataset.", "I will."),
    ("What about connection pooling with PgBouncer?", "Transaction pooling works with pgvector."),
    ("Good, thank you!", "You're welcome!"),
)
BREAD = (
    ("My sourdough comes out dense, what am I doing wrong?", "Perhaps the fermentation is too short."),
    ("How long should the bulk fermentation take at 20 degrees?", "Five to six hours."),
    ("Which flour has enough protein?", "Bread flour with 12 percent protein."),
    ("Should I use steam in the oven?", "Yes, for the first twenty minutes."),
)
JAPAN = (
    ("I'm planning two weeks in Japan in April. Where should I go?", "Tokyo, Kyoto and Hiroshima."),
    ("Is the rail pass worth it?", "For that route, yes."),
    ("How many days does Kyoto need?", "Three or four."),
)


def turns(said: Sequence[tuple[str, str]]) -> list[Exchange]:
    return [Exchange(number, question, answer, (), WHEN) for number, (question, answer) in enumerate(said, 1)]


def told(said: Sequence[tuple[str, str]], verbosity: Verbosity = Verbosity.NORMAL) -> Summary:
    return RuleEngine().summarize(turns(said), verbosity).summary


def asked(*messages: str) -> Summary:
    return told([(message, "Fine.") for message in messages])


# Sentences by kind -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Let's use pgvector with an HNSW index.", "decisions"),
        ("We decided to launch in May.", "decisions"),
        ("I'll go with the blue one.", "decisions"),
        ("OK, we're going with Hetzner.", "decisions"),
        ("I've settled on Lisbon for the honeymoon.", "decisions"),
        ("I need to renew my passport by March.", "action_items"),
        ("Remind me to call Bob.", "action_items"),
        ("Todo: write the tests.", "action_items"),
        ("The next step is to ask the landlord.", "action_items"),
        ("I'll send Maria the draft tomorrow.", "action_items"),
        ("Turns out the cable was broken.", "insights"),
        ("The problem was a missing index.", "insights"),
        ("I found out that the flat has no heating.", "insights"),
        ("We've figured out why it leaks.", "insights"),
        ("I prefer window seats.", "preferences"),
        ("I like short answers.", "preferences"),
        ("I always take the night train.", "preferences"),
        ("My favourite author is Saramago.", "preferences"),
        ("I don't eat meat.", "preferences"),
    ],
)
def test_a_sentence_is_of_the_kind_it_says(sentence: str, kind: str) -> None:
    assert kind_of(sentence) == kind
    assert getattr(asked(sentence), kind) == (f"“{sentence}”",)


@pytest.mark.parametrize(
    "sentence",
    [
        "What have we decided?",
        "Should I go with the blue one?",
        "If we decided to drop Redis, sessions would break.",
        "My boss says we decided on Oracle.",
        "Imagine I prefer tea.",
        "Let's say the earth is flat.",
        "The weather is fine.",
        "I need to know what FAISS is.",
        "Write a story in which I always win.",
        "Wir haben uns für Hetzner entschieden, weil das billiger ist.",
    ],
)
def test_questions_suppositions_and_other_peoples_words_are_of_no_kind(sentence: str) -> None:
    assert kind_of(sentence) is None


def test_what_the_assistant_decides_is_no_decision_of_the_users() -> None:
    summary = told([("Which database?", "Let's use Oracle. I prefer it. The problem was the other one.")])
    assert (summary.decisions, summary.preferences, summary.insights) == ((), (), ())


def test_pasted_text_and_code_are_not_the_users_words() -> None:
    summary = asked(
        "Summarise this: We decided to buy everything.", "```\n# let's use Oracle\n```\nWhat is wrong here?"
    )
    assert summary.decisions == ()
    assert "Oracle" not in summary.narrative


def test_a_password_stands_in_no_summary() -> None:
    said = "I decided that my password is hunter2secret. What is a good manager?"
    summary = told([(said, "Your password is hunter2secret, then. A manager keeps it.")])
    assert "hunter2" not in render(summary, 1, 1, 800)
    assert "What is a good manager?" in summary.narrative


def test_what_was_forgotten_stands_in_no_summary() -> None:
    assert asked("I prefer [forgotten] to tea. What is oolong?").preferences == ()


def test_of_too_many_sentences_the_last_said_stay() -> None:
    summary = asked(*(f"Let's use plan number {n}." for n in range(20)))
    assert summary.decisions[-1] == "“Let's use plan number 19.”"
    assert len(summary.decisions) == 6


# Topics and narrative --------------------------------------------------------------------------------------------


def test_names_and_terms_are_topics() -> None:
    assert {"pgvector", "FAISS", "HNSW", "PostgreSQL", "Maria Silva"} <= set(told(DATABASES).topics)
    assert "sourdough" in told(BREAD).topics
    assert {"Japan", "Kyoto"} <= set(told(JAPAN).topics)


def test_words_of_every_talk_are_no_topics() -> None:
    everyday = {"thanks", "how", "use", "prefer", "need", "good", "remind", "friday", "the"}
    assert everyday.isdisjoint(topic.lower() for topic in told(DATABASES, Verbosity.FULL).topics)


def test_singular_and_plural_are_one_topic() -> None:
    topics = asked("Which database is fast?", "Do databases need backups?", "Is a database a file?").topics
    assert [topic for topic in topics if topic.startswith("database")] == ["database"]


def test_two_words_that_stand_together_again_are_one_topic() -> None:
    topics = asked("What does connection pooling do?", "Is connection pooling worth it?").topics
    assert topics[0] == "connection pooling"
    assert "pooling" not in topics


def test_what_the_whole_conversation_speaks_of_is_less_of_a_topic_here() -> None:
    said = [("Which wood for the boat deck?", "Teak."), ("How thick should the boat deck be?", "20 mm.")]
    said += [("Does teak need oil?", "No."), ("Is teak dear?", "Yes.")]
    alone = RuleEngine().summarize(turns(said), Verbosity.NORMAL).summary.topics
    among = RuleEngine(elsewhere=["My boat has an engine.", "The boat is old."]).summarize(
        turns([(question.replace("boat deck", "boat"), answer) for question, answer in said]), Verbosity.NORMAL
    )
    assert alone[0] == "boat deck"
    assert among.summary.topics[0] == "teak"


def test_the_questions_that_were_asked_stand_in_the_narrative() -> None:
    summary = told(DATABASES)
    for question in ("How does pgvector compare with FAISS?", "What about connection pooling with PgBouncer?"):
        assert f"“{question}”" in summary.narrative
    assert "Good, thank you" not in summary.narrative


@pytest.mark.parametrize(
    ("messages", "topic"),
    [
        (("Welche Datenbank ist schnell?", "Braucht die Datenbank viel Speicher?"), "Datenbank"),
        (("¿Cuál es la mejor receta de paella?", "¿Lleva la paella cebolla?"), "paella"),
        (("Какую базу данных выбрать?", "Сколько памяти нужно базу?"), "базу"),
        (("京都の天気はどうですか？", "京都で何を食べますか？"), "京都"),
    ],
)
def test_other_languages_have_topics_and_their_questions(messages: tuple[str, ...], topic: str) -> None:
    summary = asked(*messages)
    assert topic in summary.topics
    assert messages[0].lstrip("¿") in summary.narrative
    assert (summary.decisions, summary.action_items, summary.insights, summary.preferences) == ((), (), (), ())


@pytest.mark.parametrize("verbosity", list(Verbosity))
def test_a_summary_is_found_by_what_it_was_about(verbosity: Verbosity) -> None:
    """Seed 002: “What did we discuss about databases?” finds turns 1 to 10."""
    texts = [render(told(said, verbosity), 1, 10, verbosity.limit) for said in (DATABASES, BREAD, JAPAN)]
    model = embedder()
    question = parse_question("What did we discuss about databases?", (), WHEN).semantic_query
    cosines = model.embed(texts) @ model.embed([question])[0]
    assert int(np.argmax(cosines)) == 0
    assert cosines[0] >= CALIBRATIONS[model.name].floor
    assert cosines[0] - max(cosines[1:]) >= 0.1


# Truth and limits ------------------------------------------------------------------------------------------------


def test_every_word_was_said() -> None:
    said = " ".join(text for turn in DATABASES for text in turn)
    summary = told(DATABASES, Verbosity.FULL)
    sentences = [*summary.decisions, *summary.action_items, *summary.insights, *summary.preferences]
    quotes = re.findall("“([^”]+)”", " ".join([*sentences, summary.narrative]))
    assert len(quotes) >= 10
    assert [quote for quote in quotes if quote.removesuffix("…") not in said] == []
    assert [topic for topic in summary.topics if topic.lower() not in said.lower()] == []


def test_long_segments_still_tell_of_their_beginning_and_their_end() -> None:
    narrative = asked(*(f"What is the capital of country number {n}?" for n in range(60))).narrative
    assert "number 0?" in narrative
    assert "number 59?" in narrative
    assert count_tokens(narrative) <= 200


def test_nothing_said_gives_an_empty_summary() -> None:
    assert told([]).is_empty
    assert asked("Hello!", "Thanks!").is_empty


@settings(max_examples=60)
@given(st.lists(st.tuples(st.text(max_size=300), st.text(max_size=300)), max_size=5), st.sampled_from(list(Verbosity)))
def test_any_text_can_be_summarized_within_the_limit(said: list[tuple[str, str]], verbosity: Verbosity) -> None:
    first, second = told(said, verbosity), told(said, verbosity)
    assert first == second
    assert count_tokens(render(first, 1, 10, verbosity.limit)) <= verbosity.limit


def test_the_rules_cost_no_tokens_and_name_themselves() -> None:
    answer = RuleEngine().summarize(turns(BREAD), Verbosity.NORMAL)
    assert (answer.engine_name, answer.usage.input_tokens, answer.failure) == ("rules/1", 0, "")
