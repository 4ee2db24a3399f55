"""`manage.py up`: one command starts everything, survives crashes, and says in one sentence why it can't start."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from recall.process.startup import listening, only_one_in, prepare_database
from recall.process.supervisor import StartupError
from tests.running import PROJECT, App, clean_environment, open_folder, started_in, wait_until

pytestmark = pytest.mark.processes

CHILDREN = ("postgres", "offline", "web", "worker")


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with open_folder() as folder, started_in(folder) as app:
        yield app


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if _lives(process)]


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def users(app: App) -> list[str]:
    with psycopg.connect(app.conninfo()) as connection:
        return [email for (email,) in connection.execute("SELECT email FROM accounts_user").fetchall()]


# It starts ---------------------------------------------------------------------------------------------------------


def test_it_says_in_one_line_where_to_go_and_how_to_sign_in(app: App) -> None:
    lines = [line for line in app.output().splitlines() if "Recall is ready" in line]
    assert len(lines) == 1
    assert f"Recall is ready: {app.url} - sign in as demo@recall.local with the password " in lines[0]


def test_the_page_answers(app: App) -> None:
    assert app.healthy()


def test_the_demo_user_is_there_and_nobody_else(app: App) -> None:
    assert users(app) == ["demo@recall.local"]


def test_every_child_runs(app: App) -> None:
    assert all(psutil.pid_exists(app.pid(child)) for child in CHILDREN)


def test_postgresql_does_not_run_as_root_even_if_root_started_it(app: App) -> None:
    owner = psutil.Process(app.pid("postgres")).uids().effective
    assert owner == os.geteuid() or (os.geteuid() == 0 and owner != 0)


def test_a_second_one_on_the_same_folder_is_refused_in_one_sentence(app: App) -> None:
    said = rf"Recall is already running on {app.var_dir} \(process {app.supervisor.pid}\)"
    with pytest.raises(StartupError, match=said), only_one_in(app.var_dir / "run"):
        pass


# It goes on --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("child", ["postgres", "offline", "worker"])
def test_a_killed_child_is_reported_and_started_again(app: App, child: str) -> None:
    app.kill(child)
    assert f"{child} was killed by SIGKILL; restarting it." in app.output()
    wait_until(app.healthy, seconds=60)


def test_a_request_waits_while_a_killed_page_starts_again(app: App) -> None:
    """The listening socket is the supervisor's: no one sees a refused connection."""
    app.kill("web")
    assert app.healthy()
    assert "web was killed by SIGKILL; restarting it." in app.output()


# It ends -----------------------------------------------------------------------------------------------------------


def test_stopped_and_started_again_it_keeps_the_data_and_shows_no_password_with_logs_of_json(app: App) -> None:
    everything = app.processes()
    assert app.stop(signal.SIGINT) == 0
    assert alive(everything) == []
    assert "Traceback" not in app.output()

    with (app.var_dir / "run" / "supervisor.pid").open("w") as stale:
        stale.write("999999")
    again = App(app.var_dir, LOG_FORMAT="json")
    try:
        again.wait_until_ready()
        again.kill("offline")
        assert users(again) == ["demo@recall.local"]
        left_behind = again.processes()
        again.supervisor.send_signal(signal.SIGKILL)
        again.supervisor.wait()
        wait_until(lambda: alive(left_behind) == [])
    finally:
        again.stop()
    lines = [json.loads(line) for line in again.output().splitlines()]
    assert all(line["time"] and line["logger"] and "message" in line for line in lines)
    messages = [line["message"] for line in lines]
    assert "The last run (process 999999) didn't stop cleanly; recovering." in messages
    (ready,) = [message for message in messages if "Recall is ready" in message]
    assert "sign in as demo@recall.local (password lost: python manage.py changepassword" in ready


# It refuses --------------------------------------------------------------------------------------------------------


def test_a_port_in_use_gives_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = rf"^Can't use port {port} on 127.0.0.1 \(Address already in use\)"
        with pytest.raises(StartupError, match=said), listening("127.0.0.1", port, "PORT"):
            pass


def test_a_folder_that_cannot_be_written_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "run").touch()  # a file is in the way: that stops root, too
    with pytest.raises(StartupError, match=r"^VAR_DIR: can't write .*/run"), only_one_in(tmp_path / "run"):
        pass


def up(**environment: str) -> tuple[int, list[str]]:
    with open_folder() as folder:
        ended = subprocess.run(
            [sys.executable, "manage.py", "up", "--port", "0"],
            cwd=PROJECT,
            env=clean_environment(**{"VAR_DIR": str(folder), **environment}),
            capture_output=True,
            text=True,
            timeout=60,
        )
    return ended.returncode, (ended.stdout + ended.stderr).strip().splitlines()


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"PORT": "eighty"}, "Invalid settings: PORT: "),
        ({"VAR_DIR": "/dev/null/var"}, "VAR_DIR: can't use /dev/null/var (Not a directory)"),
        (
            {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"},
            "DATABASE_URL: the database isn't available (connection failed: ",
        ),
    ],
    ids=["a wrong value", "a folder that cannot be made", "no database"],
)
def test_whatever_stands_in_the_way_is_told_in_one_sentence(environment: dict[str, str], sentence: str) -> None:
    code, lines = up(**environment)
    assert code == 1
    assert sentence in lines[-1]
    assert not any("Traceback" in line for line in lines)


@pytest.mark.django_db(transaction=True)
def test_a_database_without_pgvector_gives_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's own server has pgvector, so the list requires one more extension that it lacks."""
    monkeypatch.setattr("recall.db.requirements.EXTENSIONS", {"vector_of_tomorrow": ()})
    with pytest.raises(
        StartupError, match=r"^The database server lacks the extension vector_of_tomorrow. See docs/self"
    ):
        prepare_database(lambda: "never asked")
