"""`manage.py evaluate` imports, indexes and asks through Recall's own parts, and leaves nothing behind."""

import json
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from bench import results
from chat.models import Conversation, Message
from memory.embeddings.port import embedder
from memory.evaluation import datasets
from memory.evaluation.retrieval import product
from memory.evaluation.retrieval.metrics import ANSWERABLE
from memory.evaluation.retrieval.run import DOMAIN
from memory.models import Chunk
from memory.retrieval.ranking import MEASURED
from memory.retrieval.recall import CutItem, MemoryItem, RetrievalResult
from tests.memory.evaluation.test_datasets import TWO_PEOPLE, WITH_AN_ASSISTANT

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Restores signal handlers: the command changes what SIGTERM does in its process."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TWO_PEOPLE))
    return path


def ran(*arguments: Any) -> str:
    out = StringIO()
    call_command("evaluate", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_table_has_recall_and_the_baselines(talk: Path) -> None:
    table = ran(talk)
    assert "talk.json: conversations: 1, turns or messages: 3, questions: 1." in table
    for system in ("Recall, measured", "dense", "full text AND", "full text OR", "BM25", "RRF of dense and BM25"):
        assert f"\n  {system} " in table


def test_the_figures_of_a_run_are_kept_on_request(talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")

    ran(talk)
    assert not (tmp_path / "results").exists()
    ran(talk, "--record")

    run = json.loads((tmp_path / "results" / "evaluate.talk.json").read_text())
    assert run["figures"]["answerable questions"] == {"value": 1, "unit": ""}
    for name in ("Recall, R@5", "dense, R@10", "BM25, B800", "recalled, useful share", "p95"):
        assert name in run["figures"]
    assert set(run["ratios"]) == {"dense over Recall, R@5", "dense over Recall, R@10", "dense over Recall, B800"}


def test_baselines_are_left_out_and_the_profile_chosen_on_request(talk: Path) -> None:
    table = ran(talk, "--no-baselines", "--profile", "seed")
    assert "\n  Recall, seed " in table
    assert "BM25" not in table


def test_the_figures_come_as_json_on_request(talk: Path) -> None:
    (evaluation,) = json.loads(ran(talk, "--json"))
    assert evaluation["file"] == "talk.json"
    # of three turns only one says “kettle” or “red”
    assert evaluation["systems"]["BM25"][ANSWERABLE]["figures"]["R@3"] == 100
    assert evaluation["recalled"]["for_adversarial"] is None
    assert 0 < evaluation["latency"]["p50"] <= evaluation["latency"]["p95"]


def test_the_run_is_a_file_of_one_line_a_question(talk: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps(WITH_AN_ASSISTANT))
    ran(talk, other, "--no-baselines", "--run", tmp_path / "run.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["tea#0", "7-0"]
    assert [set(line) for line in lines] == [{"id", "ranked"}] * 2


def test_nothing_of_it_stays(talk: Path) -> None:
    ran(talk, "--no-baselines")
    assert not User.objects.filter(email__endswith=DOMAIN).exists()
    assert not Conversation.objects.exists()
    assert not Chunk.objects.exists()


def test_ctrl_c_ends_it_with_one_sentence_and_nothing_stays(talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any, **options: Any) -> Any:
        assert Message.objects.count() == 3
        raise KeyboardInterrupt

    monkeypatch.setattr(product, "retrieve", interrupted)
    with pytest.raises(CommandError, match="Interrupted") as ending:
        ran(talk)
    assert ending.value.returncode == 130
    assert not Message.objects.exists()
    assert not User.objects.filter(email__endswith=DOMAIN).exists()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("missing.json", None, "missing.json cannot be read: No such file or directory."),
        ("wrong.json", "[]", "wrong.json is in neither of the two layouts"),
    ],
)
def test_a_file_it_cannot_use_is_refused_before_anything_is_imported(
    talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | None, sentence: str
) -> None:
    monkeypatch.setattr(product, "get_source", lambda: pytest.fail("something was imported"))
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(CommandError, match=sentence):
        ran(talk, tmp_path / name)


def test_a_run_that_cannot_be_written_is_said_before_anything_is_imported(
    talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product, "get_source", lambda: pytest.fail("something was imported"))
    with pytest.raises(CommandError, match="cannot be written: Is a directory"):
        ran(talk, "--run", tmp_path)


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_limit_is_a_positive_number(talk: Path, limit: str) -> None:
    with pytest.raises(CommandError, match="--limit"):
        ran(talk, "--limit", limit)


# Recall's own parts ----------------------------------------------------------------------------------------------


def test_names_and_dates_reach_the_messages(alice: User, talk: Path) -> None:
    (conversation,) = datasets.read(talk)
    messages = product.store(alice, conversation)
    rows = [Message.objects.get(pk=messages[item.id]) for item in conversation.items]
    assert [row.author for row in rows] == ["Ana", "Ben", "Ben"]
    assert [row.created_at for row in rows] == [item.when for item in conversation.items]
    assert rows[1].text == "Show me! [shared image: a red kettle]"
    assert {row.user_id for row in rows} == {alice.pk}


def test_indexing_ends_when_every_passage_of_the_user_has_its_vector(alice: User, talk: Path) -> None:
    (conversation,) = datasets.read(talk)
    messages = product.store(alice, conversation)
    product.index(alice)
    chunks = Chunk.objects.for_user(alice)
    assert {chunk.message_id for chunk in chunks} == set(messages.values())
    assert {chunk.embedded_by for chunk in chunks} == {embedder().name}


def memory_of(message: int | None, score: float) -> MemoryItem:
    when = datetime(2024, 3, 1, tzinfo=UTC)
    return MemoryItem("fact:1", "fact", "It is so.", when, message, {}, score)


def test_an_answer_is_what_was_kept_then_what_was_cut_by_score_each_message_once() -> None:
    kept = (memory_of(5, 0.4), memory_of(None, 0.9), memory_of(7, 0.3))
    cut = tuple(CutItem(memory_of(*of), "beyond top-K") for of in ((1, 0.1), (7, 0.8), (2, 0.2)))
    answer = product.answer(RetrievalResult(kept, cut, {}))
    assert answer.ranked == (5, 7, 2, 1)
    assert answer.recalled == {5, 7}
    assert answer.memories == 3


def test_a_question_is_asked_with_the_profile_of_the_product(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def recall(*given: Any, **options: Any) -> RetrievalResult:
        asked.append((given, options))
        return RetrievalResult((), (), {})

    monkeypatch.setattr(product, "retrieve", recall)
    now = datetime(2024, 5, 2, tzinfo=UTC)
    product.recall_itself(MEASURED).ask(alice, "Which colour?", now)
    assert asked == [((alice, "Which colour?"), {"now": now, "profile": MEASURED})]
