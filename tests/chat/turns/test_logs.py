"""A turn is one line in the log, with ids, tokens, times and outcome; and nowhere a word of what was said."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import OperationalError
from django.test import Client

from chat.models import Message
from memory.index.indexer import embed_pending
from memory.librarian import run as librarian
from memory.models import LibrarianRun
from recall import celery
from recall.celery import app
from recall.observability import request_id
from recall.observability.logs import FIELDS, MORE_THAN_IDS, TASKS, JsonLines, PlainLines, with_fields
from tests.chat.conftest import Provider, Tabs, settled
from tests.memory.index.test_indexer import said
from tests.running import PROJECT, clean_environment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queued")]

SECRETS = ("xylophone-question", "marzipan-answer", "zeppelin-memory", "quagmire-query")


@pytest.fixture
def everything(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """All that is logged at LOG_LEVEL=DEBUG: every logger that Recall's settings do not hold back."""
    rules: dict[str, dict[str, str]] = settings.LOGGING["loggers"]  # type: ignore[assignment]
    assert set(rules) >= set(MORE_THAN_IDS)
    before = {name: logging.getLogger(name).level for name in rules}
    for name, rule in rules.items():
        logging.getLogger(name).setLevel(rule["level"])
    with caplog.at_level(logging.DEBUG):
        yield caplog
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def written(records: list[logging.LogRecord]) -> str:
    """Every record as both formats write it, with its arguments."""
    return "\n".join(
        f"{PlainLines().format(record)} {JsonLines().format(record)} {record.args!r}" for record in records
    )


async def a_turn_full_of_secrets(user: Any, tabs: Tabs, provider: Provider) -> int:
    def prepare() -> None:
        from chat.ingest.source import ChatSource

        ChatSource().import_conversation(user, "Instruments", said(("user", f"I keep a {SECRETS[2]} in the cellar.")))
        embed_pending()

    await sync_to_async(prepare)()
    provider.script(
        {"tools": [{"name": "search_knowledge", "input": {"query": SECRETS[3]}}]}, {"text": f"It is a {SECRETS[1]}."}
    )
    tab = await tabs.open(user)
    done = await tab.talk(f"What is the {SECRETS[0]} that I keep in the cellar?")
    await sync_to_async(_read_it_all)()
    return int(done["message"])


def _read_it_all() -> None:
    """What the librarian does with it."""
    for run in LibrarianRun.objects.all():
        librarian.run_extraction(run.pk)


async def test_no_line_holds_what_was_said(
    alice: Any, tabs: Tabs, provider: Provider, everything: pytest.LogCaptureFixture
) -> None:
    message = await a_turn_full_of_secrets(alice, tabs, provider)

    text = written(everything.records)
    assert str(message) in text, "something was logged"
    for secret in SECRETS:
        assert secret not in text
    kept = await Message.objects.aget(pk=message)
    assert SECRETS[1] in kept.text, "and yet it was said"


@pytest.mark.parametrize("fault", ["unauthorized", "mid_stream_error:2", "broken_connection:2"])
async def test_nor_when_it_fails(
    fault: str, alice: Any, tabs: Tabs, provider: Provider, everything: pytest.LogCaptureFixture
) -> None:
    provider.fail(fault, times=4)
    await a_turn_full_of_secrets(alice, tabs, provider)

    text = written(everything.records)
    for secret in SECRETS:
        assert secret not in text


async def test_a_fault_of_ours_is_logged_without_its_message(
    alice: Any, tabs: Tabs, provider: Provider, everything: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError(f"cannot parse {SECRETS[0]}")

    monkeypatch.setattr("chat.turns.backend.assemble_prompt", broken)
    tab = await tabs.open(alice)
    done = await tab.talk("Good morning")

    text = written(everything.records)
    assert "ValueError" in text
    assert SECRETS[0] not in text
    assert f"request {done['request']}." in done["html"]


async def test_a_turn_is_one_line_with_its_figures(
    alice: Any, tabs: Tabs, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="recall.turns"):
        message = await a_turn_full_of_secrets(alice, tabs, provider)

    (record,) = [one for one in caplog.records if one.name == "recall.turns"]
    line = json.loads(JsonLines().format(record))
    assert {name: line[name] for name in ("user", "answer", "turn", "outcome", "because", "level")} == {
        "user": alice.pk,
        "answer": message,
        "turn": 1,
        "outcome": "complete",
        "because": "end_turn",
        "level": "INFO",
    }
    assert line["requests"] == 2
    assert line["fresh_tokens"] + line["cache_write_tokens"] > 0
    assert line["output_tokens"] > 0
    assert line["total_ms"] >= line["compile_ms"] >= line["retrieve_ms"] > 0
    assert f"answer={message} turn=1 outcome=complete" in record.getMessage()


async def test_the_id_of_a_frame_is_in_the_log_line_of_its_turn_and_in_the_tasks_it_queued(
    alice: Any, tabs: Tabs, provider: Provider, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(celery, "send_task_now", celery.TaskSender().send)
    monkeypatch.setattr(celery.app, "send_task", lambda name, args, headers: sent.append(headers))
    monkeypatch.setattr(caplog.handler, "formatter", JsonLines())  # the id is of the moment, not of the record
    tab = await tabs.open(alice)
    with caplog.at_level(logging.INFO, logger="recall.turns"):
        named = (await tab.ask("Good morning"))["request"]
        await tab.hear("done")
        await settled()
    (line,) = [one for one in map(json.loads, caplog.text.splitlines()) if one["logger"] == "recall.turns"]
    assert line["request"] == named
    assert sent
    assert all(headers == {request_id.TASK_HEADER: named} for headers in sent)


@pytest.mark.parametrize(("kind", "code"), [(OperationalError, "unavailable"), (ZeroDivisionError, "fault")])
async def test_a_refused_frame_is_named_and_one_that_met_a_fault_names_itself_in_its_sentence_and_in_the_log(
    kind: type[Exception],
    code: str,
    alice: Any,
    tabs: Tabs,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(caplog.handler, "formatter", JsonLines())
    tab = await tabs.open(alice)
    await tab.tell("open", conversation=str(uuid4()))
    refused = await tab.hear("error")
    assert refused["request"] not in refused["text"]

    async def broken(*_: Any) -> None:
        raise kind(SECRETS[0])

    monkeypatch.setattr("chat.consumer.accept", broken)
    await tab.tell("send", client_id=str(uuid4()), conversation=None, text="Good morning")
    failed = await tab.hear("error")
    assert failed["code"] == code
    assert failed["text"].endswith(f"request {failed['request']}.")
    assert failed["request"] != refused["request"]
    (line,) = [one for one in map(json.loads, caplog.text.splitlines()) if one["logger"] == "chat.consumer"]
    assert (line["request"], kind.__name__ in line["message"]) == (failed["request"], True)
    assert SECRETS[0] not in caplog.text


PRINTS = """
import threading, warnings
import django
django.setup()
from django.core.mail import send_mail
class Broken:
    def __del__(self):
        raise TypeError("Lisbon")
send_mail("A link", "Hello,\\n\\nopen it.", None, ["alice@example.org"])
warnings.warn("old")
Broken()
thread = threading.Thread(target=int, args=["Lisbon"])
thread.start()
thread.join()
raise RuntimeError("Lisbon")
"""


def test_with_json_lines_nothing_is_printed_past_the_log(tmp_path: Path) -> None:
    environment = clean_environment(
        DJANGO_SETTINGS_MODULE="recall.settings", VAR_DIR=str(tmp_path), LOG_FORMAT="json", LOG_LEVEL="WARNING"
    )
    ended = subprocess.run([sys.executable, "-c", PRINTS], cwd=PROJECT, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (1, "")
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    mail, warning, *errors = [line["message"] for line in lines]
    assert mail == "No mail server is set. To alice@example.org: A link\n\nHello,\n\nopen it."
    assert "UserWarning: old" in warning
    assert [line["exception"] for line in lines[2:]] == ["TypeError", "ValueError", "RuntimeError"]
    assert "Lisbon" not in "".join(errors)


def test_an_exception_is_told_by_type_and_place_alone() -> None:
    try:
        raise ValueError(SECRETS[0])
    except ValueError:
        record = logging.getLogger("recall").makeRecord("recall", logging.ERROR, "", 0, "It failed", (), sys.exc_info())
    setattr(record, FIELDS, with_fields(turn=3)[FIELDS])
    line = json.loads(JsonLines().format(record))
    assert line["exception"] == "ValueError"
    assert line["turn"] == 3
    assert "test_an_exception_is_told" in line["where"]
    assert "\n" not in JsonLines().format(record)
    assert "test_an_exception_is_told" in PlainLines().format(record)
    assert PlainLines().format(record).endswith("ValueError")
    assert SECRETS[0] in PlainLines(debug=True).format(record)


def test_of_a_task_that_failed_the_exceptions_words_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    @app.task(name="tests.fails")
    def fails() -> None:
        raise ValueError(SECRETS[0])

    fails.apply()
    (record,) = [one for one in caplog.records if one.name == TASKS]
    line = JsonLines().format(record)
    assert "Task tests.fails[" in json.loads(line)["message"]
    assert SECRETS[0] in record.getMessage(), "Celery would tell"
    assert SECRETS[0] not in line + PlainLines().format(record)


def test_an_address_is_logged_by_its_pattern(alice: Any, client: Client, caplog: pytest.LogCaptureFixture) -> None:
    client.force_login(alice)
    for address, route in (
        (f"/memory/documents/{SECRETS[0]}/Zoë", "Not Found: /memory/documents/<path:path>"),
        (f"/elsewhere/{SECRETS[0]}", "Not Found: (no page)"),
    ):
        caplog.clear()
        assert client.get(address).status_code == 404
        (record,) = [one for one in caplog.records if one.name == "django.request"]
        assert json.loads(JsonLines().format(record))["message"] == route
        assert SECRETS[0] not in PlainLines().format(record)
