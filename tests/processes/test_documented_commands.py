"""The commands of docs/self-hosting.md and docker/compose.yaml, run as printed, make one working Recall."""

import http.client
import json
import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes.browser import Browser
from tests.processes.conftest import Provider, Turn
from tests.processes.machine import COMPOSE, Machine, documented, is_embedded
from tests.running import PROJECT, free_port, own_redis, own_server, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.redis, pytest.mark.timeout(300)]


FAREWELL = "worker: Warm shutdown (MainProcess)"
"""Celery prints it, past all logging, when a worker is stopped."""
MAIL = re.compile(r"^Content-Type: .*?^-{70,}$", re.MULTILINE | re.DOTALL)
"""Printed where no mail server is configured."""


def test_the_documented_commands_make_one_recall_of_many_processes(tmp_path: Path) -> None:
    """Its logs are JSON, line by line, and have no words of a search."""
    ports = free_port(), free_port()
    with ExitStack() as started:
        database = started.enter_context(own_server(with_tables=True))
        redis = started.enter_context(own_redis())
        machine = Machine(tmp_path, DATABASE_URL=database.url, REDIS_URL=redis.url, LOG_FORMAT="json")
        machine.run(documented("python manage.py prepare"))
        machine.run(documented("python manage.py collectstatic"))
        assert not machine.is_healthy("worker")
        assert not machine.is_healthy("beat")
        started.enter_context(machine.running(shlex.join(COMPOSE["offline"]["command"])))
        for port in ports:
            started.enter_context(machine.running(documented("uvicorn"), port))
        for _ in range(2):
            started.enter_context(machine.running(documented("celery --quiet --app recall worker")))
        started.enter_context(machine.running(documented("celery --quiet --app recall beat")))
        for port in ports:
            machine.wait_until_healthy("web", port)
        machine.wait_until_healthy("worker")
        machine.wait_until_healthy("beat")

        first, second = (f"http://127.0.0.1:{port}" for port in ports)
        alice = Browser(first)
        alice.sign_up("alice@example.org")
        turn = Turn(alice, "I live in Lisbon.")
        Provider(machine.offline).will_say(turn.asked, "Noted.")
        turn.send()
        turn.done()
        assert "Noted." in alice.at(second).shown(turn.conversation)
        wait_until(lambda: is_embedded(database))  # queued by beat, done by a worker

        asking = http.client.HTTPConnection("127.0.0.1", ports[0])
        asking.request("GET", "/search?q=pineapple")
        assert asking.getresponse().status == 302
    logs = [MAIL.sub("", log.read_text()) for log in tmp_path.glob("*.log") if log.name != "--no-access-log.log"]
    lines = [json.loads(line) for log in logs for line in log.splitlines() if line not in ("", FAREWELL)]
    assert len(logs) == 3, "of the pages, the workers and the clock; not of the model server"
    assert any(line["message"].startswith("Uvicorn running") for line in lines)
    assert not any("pineapple" in log for log in logs)


@pytest.mark.parametrize("service", ["worker", "beat"])
def test_the_compose_file_runs_the_same_commands(service: str) -> None:
    command = documented(f"celery --quiet --app recall {service}")
    assert shlex.join(COMPOSE[service]["command"]) == f"{command} --loglevel INFO"


def test_the_image_runs_the_documented_web_process() -> None:
    image = (PROJECT / "docker" / "Dockerfile").read_text().replace("\\\n", "")
    (command,) = re.findall(r"^CMD (\[.*\])$", image, re.MULTILINE)
    assert set(shlex.split(documented("uvicorn"))) <= set(json.loads(command))
