"""Behind PgBouncer: in session mode everything works unchanged, in transaction mode Recall refuses to start."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured

from recall.db.requirements import POOLED_BY_TRANSACTION, check_sessions
from recall.process.embedded_postgres import as_account
from tests.processes.browser import Browser
from tests.processes.conftest import Provider, Turn
from tests.processes.machine import Machine, documented, is_embedded
from tests.running import COMPOSE, Server, free_port, own_server, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

STORY = " ".join(f"word{number}" for number in range(60))


@contextmanager
def pooling(server: Server, mode: str) -> Iterator[str]:
    """The address of a PgBouncer in this mode, with as many connections as the server allows, else its defaults."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    port = free_port()
    file = Path(server.cluster.var_dir) / f"pgbouncer-{mode}.ini"
    file.write_text(
        f"[databases]\nrecall = host={server.cluster.socket} dbname=recall user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"pool_mode = {mode}\ndefault_pool_size = 90\n"
    )
    file.chmod(0o644)
    process = subprocess.Popen([program, "-q", str(file)], **as_account(server.cluster.account))
    try:
        address = f"postgresql://postgres@127.0.0.1:{port}/recall"
        wait_until(lambda: answers(address))
        yield address
    finally:
        process.terminate()
        process.wait(10)


def answers(address: str) -> bool:
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with own_server(with_tables=True) as server:
        yield server


def test_in_session_mode_turns_stops_and_the_worker_work(server: Server, tmp_path: Path) -> None:
    with pooling(server, "session") as address, ExitStack() as started:
        machine = Machine(tmp_path, DATABASE_URL=address)
        machine.run(documented("python manage.py prepare"))
        machine.use_static_files(server)
        port, other = free_port(), free_port()
        started.enter_context(machine.running(" ".join(COMPOSE["offline"]["command"])))
        started.enter_context(machine.running(documented("uvicorn"), port))
        started.enter_context(machine.running(documented("uvicorn"), other))
        started.enter_context(machine.running(documented("celery --quiet --app recall worker") + " --with-beat"))
        for web in (port, other):
            machine.wait_until_healthy("web", web)
        alice = Browser(f"http://127.0.0.1:{port}")
        alice.sign_up("alice@example.org")
        provider = Provider(machine.offline)
        for number in range(6):  # statements are prepared from the fifth on
            turn = Turn(alice, f"I live in Lisbon, and this is message {number}.")
            provider.will_say(turn.asked, "Noted.")
            turn.send()
            assert turn.done()["outcome"] == "complete"
        stopped = Turn(alice, "Tell me more.")
        provider.will_say(stopped.asked, STORY, pause=0.05)
        stopped.send()
        there = alice.at(f"http://127.0.0.1:{other}").tab()  # its Stop is a notification to the first process
        there.open(stopped.conversation)
        there.tell("stop", conversation=stopped.conversation)
        assert stopped.done()["outcome"] == "interrupted"
        wait_until(lambda: is_embedded(server))


@pytest.mark.parametrize("is_busy", [False, True])
def test_transaction_mode_is_refused_with_the_reason(server: Server, is_busy: bool) -> None:
    with pooling(server, "transaction") as address, ExitStack() as others:
        if is_busy:  # other connections use other server processes
            for _ in range(3):
                other = others.enter_context(psycopg.connect(address))
                other.execute("SELECT 1")
        with pytest.raises(ImproperlyConfigured, match="pooler in transaction mode"):
            check_sessions(address)


@pytest.mark.parametrize(
    "command",
    [
        "python manage.py prepare",
        "uvicorn",
        "celery --quiet --app recall worker",
        "celery --quiet --app recall beat",
    ],
)
def test_a_process_says_so_in_one_sentence(server: Server, tmp_path: Path, command: str) -> None:
    with pooling(server, "transaction") as address:
        machine = Machine(tmp_path, DATABASE_URL=address)
        machine.use_static_files(server)
        failed = subprocess.run(
            machine.here(documented(command), free_port()),
            shell=True,
            cwd=Path(__file__).parents[2],
            env=machine.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert failed.returncode != 0
    assert POOLED_BY_TRANSACTION in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_direct_connection_is_accepted(server: Server) -> None:
    check_sessions(server.conninfo)
