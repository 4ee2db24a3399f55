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
from tests.processes.machine import Machine, documented, is_embedded, make_own_database
from tests.running import COMPOSE, PROJECT, Server, free_port, own_redis, own_server, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.redis, pytest.mark.timeout(300)]


def test_the_documented_commands_make_one_recall_of_many_processes(tmp_path: Path) -> None:
    """The owner's login is with those that need it, and nothing is a superuser's. The logs are JSON, line by line, have
    the mail that no server sends, and no words of a search."""
    ports = free_port(), free_port()
    with ExitStack() as started:
        database = started.enter_context(own_server())
        addresses = make_own_database(database)
        redis = started.enter_context(own_redis())
        owner = addresses.pop("DATABASE_OWNER_URL")
        machine = Machine(tmp_path, REDIS_URL=redis.url, LOG_FORMAT="json", **addresses)
        with_owner = machine.also(DATABASE_OWNER_URL=owner)  # "workers and `prepare`"
        with_owner.run(documented("python manage.py prepare"))
        machine.run(documented("python manage.py collectstatic"))
        assert not machine.is_healthy("worker")
        assert not machine.is_healthy("beat")
        started.enter_context(machine.running(shlex.join(COMPOSE["offline"]["command"])))
        for port in ports:
            started.enter_context(machine.running(documented("uvicorn"), port))
        for command in (documented("celery --quiet --app recall worker"), shlex.join(COMPOSE["worker"]["command"])):
            started.enter_context(with_owner.running(command))
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
        assert tables_of(database) == {"recall"}
    logs = [log.read_text() for log in tmp_path.glob("*.log") if log.name != "--no-access-log.log"]
    lines = [json.loads(line) for log in logs for line in log.splitlines()]
    assert len(logs) == 4, "of the pages, each worker and the clock; not of the model server"
    messages = [line["message"] for line in lines]
    assert any(message.startswith("Uvicorn running") for message in messages)
    assert any("alice@example.org" in message and f"{first}/accounts/" in message for message in messages)
    assert "worker: Warm shutdown (MainProcess)" in messages
    assert not any("pineapple" in log for log in logs)


def tables_of(database: Server) -> set[str]:
    """Whose they are."""
    with database.connect() as connection:
        owners = connection.execute("SELECT tableowner FROM pg_tables WHERE schemaname = 'public'")
        return {owner for (owner,) in owners}


@pytest.mark.parametrize("service", ["worker", "beat"])
def test_the_compose_file_runs_the_same_commands(service: str) -> None:
    command = documented(f"celery --quiet --app recall {service}")
    assert shlex.join(COMPOSE[service]["command"]) == f"{command} --loglevel INFO"


def test_the_compose_file_prepares_the_database_as_documented() -> None:
    assert shlex.join(COMPOSE["migrate"]["command"]) == documented("python manage.py prepare")


def test_the_image_runs_the_documented_web_process() -> None:
    image = (PROJECT / "docker" / "Dockerfile").read_text().replace("\\\n", "")
    (command,) = re.findall(r"^CMD (\[.*\])$", image, re.MULTILINE)
    assert set(shlex.split(documented("uvicorn"))) <= set(json.loads(command))
