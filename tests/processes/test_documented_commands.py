"""The commands of docs/self-hosting.md and docker/compose.yaml, run as printed, make one working Recall."""

import http.client
import json
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes.browser import Browser
from tests.processes.conftest import Provider, Turn
from tests.processes.machine import COMPOSE, Machine, documented, is_embedded
from tests.running import RedisServer, Server, free_port, own_redis, own_server, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.redis, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def database() -> Iterator[Server]:
    with own_server() as server:
        yield server


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with own_redis() as server:
        yield server


@pytest.fixture(scope="module")
def machine(database: Server, redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("machine"), DATABASE_URL=database.url, REDIS_URL=redis.url)
    machine.run(documented("python manage.py prepare"))
    machine.run(documented("python manage.py collectstatic"))
    return machine


def test_the_documented_commands_make_one_recall_of_many_processes(machine: Machine, database: Server) -> None:
    ports = free_port(), free_port()
    with ExitStack() as started:
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


@pytest.mark.parametrize("service", ["worker", "beat"])
def test_a_service_of_the_compose_file_runs_and_is_healthy(machine: Machine, database: Server, service: str) -> None:
    with database.connect() as connection:
        connection.execute("DELETE FROM recall_heartbeat")
    assert not machine.is_healthy(service)
    command = shlex.join(COMPOSE[service]["command"]).replace("/tmp/", f"{machine.folder}/")
    with machine.running(command) as process:
        wait_until(lambda: machine.is_healthy(service) or process.poll() is not None, every=0.5)
        assert process.poll() is None


FAREWELL = "worker: Warm shutdown (MainProcess)"
"""Celery prints it, past all logging, when a worker is stopped."""


def test_every_line_is_json_and_none_has_the_words_of_a_search(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "static").symlink_to(machine.folder / "static")
    addresses = {name: machine.environment[name] for name in ("DATABASE_URL", "REDIS_URL")}
    machine, port = Machine(tmp_path, LOG_FORMAT="json", **addresses), free_port()
    with ExitStack() as started:
        started.enter_context(machine.running(documented("uvicorn"), port))
        started.enter_context(machine.running(documented("celery --quiet --app recall worker")))
        started.enter_context(machine.running(documented("celery --quiet --app recall beat")))
        machine.wait_until_healthy("web", port)
        machine.wait_until_healthy("worker")
        machine.wait_until_healthy("beat")
        asking = http.client.HTTPConnection("127.0.0.1", port)
        asking.request("GET", "/search?q=pineapple")
        assert asking.getresponse().status == 302
    logs = {log.name: log.read_text() for log in tmp_path.glob("*.log")}
    lines = [json.loads(line) for log in logs.values() for line in log.splitlines() if line not in ("", FAREWELL)]
    assert len(logs) == 3
    assert any(line["message"].startswith("Uvicorn running") for line in lines)
    assert not any("pineapple" in log for log in logs.values())
