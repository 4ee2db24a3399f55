"""The commands of docs/self-hosting.md back everything up, and restore it into an empty place."""

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pydantic import SecretStr

from accounts.sign_up import DEMO_EMAIL
from recall.observability import heartbeat
from recall.process import backup
from recall.process.backup import BackupError
from recall.tasks import nightly_backup
from tests import prepared
from tests.running import PROJECT, Server, clean_environment, open_folder, own_server

pytestmark = pytest.mark.processes

EMAIL = "dora@example.org"
KEY = "a key of the operator's"


def documented(command: str) -> str:
    """The printed command, with this Python."""
    text = (PROJECT / "docs" / "self-hosting.md").read_text()
    section = text.partition("### Backup and restore")[2].partition("\n### ")[0]
    (line,) = re.findall(rf"^    \.venv/bin/python (manage\.py {command} .*)$", section, re.MULTILINE)
    return f"{sys.executable} {line}"


class Place:
    """A Recall without processes: its own folder or database."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.environment = clean_environment(VAR_DIR=str(folder), SECRET_KEY="x" * 50, **settings)

    def run(self, command: str, backups: Path) -> subprocess.CompletedProcess[str]:
        """Run a documented command, with this `backups` folder."""
        line = documented(command).removesuffix(" backups").split()
        return subprocess.run(
            [*line, str(backups)], cwd=PROJECT, env=self.environment, capture_output=True, text=True, check=False
        )

    def sign_up(self, email: str) -> None:
        """Create an account, as the operator."""
        made = f"from accounts.models import User; User.objects.create_user({email!r}, 'correct horse battery staple')"
        assert self.shell(made) == 0

    def shell(self, code: str) -> int:
        """Run this code in a process with Recall's settings; its exit code."""
        command = [sys.executable, "manage.py", "shell", "-c", code]
        return subprocess.run(command, cwd=PROJECT, env=self.environment, check=False).returncode


@pytest.fixture(scope="module")
def filled() -> Iterator[Server]:
    """A server with Recall's tables and one user."""
    with open_folder() as folder:
        prepared.copy_to(folder)
        server = Server(folder)
        try:
            Place(folder, DATABASE_URL=server.url).sign_up(EMAIL)
            yield server
        finally:
            server.stop()


@pytest.fixture
def empty() -> Iterator[Server]:
    with own_server() as server:
        yield server


@pytest.fixture
def here(filled: Server, settings: Any, db: None) -> None:
    """This process backs up the filled server, and keeps two backups. It starts no process of Recall's."""
    url = filled.url
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"database_url": url, "backup_keep": 2})
    settings.OWNER_DSN = dict(conninfo_to_dict(filled.conninfo))


def users(server: Server) -> list[str]:
    with server.connect() as connection:
        return [email for (email,) in connection.execute("SELECT email FROM accounts_user ORDER BY id").fetchall()]


@pytest.mark.parametrize("key", ["", KEY], ids=["plain", "encrypted"])
def test_what_was_backed_up_is_there_again(filled: Server, empty: Server, tmp_path: Path, key: str) -> None:
    backups = tmp_path / "backups"
    source = Place(tmp_path, DATABASE_URL=filled.url, BACKUP_KEY=key)
    made = source.run("backup", backups)
    assert made.returncode == 0, made.stderr
    assert "is whole" in source.run("verify", backups).stdout
    (file,) = backup.backups(backups)
    assert EMAIL.encode() not in file.read_bytes()
    assert {path.stat().st_mode & 0o077 for path in backups.iterdir()} == {0}

    target = Place(tmp_path, DATABASE_URL=empty.url, BACKUP_KEY=key)
    restored = target.run("restore", backups)
    assert restored.returncode == 0, restored.stderr
    assert users(empty) == users(filled) == [EMAIL]
    again = target.run("restore", backups)
    assert "isn't empty: it holds 1 user" in again.stderr


@pytest.mark.usefixtures("here")
def test_a_used_demo_account_and_tables_of_another_program_are_not_replaced(
    empty: Server, tmp_path: Path, settings: Any
) -> None:
    backup.back_up(tmp_path)
    settings.OWNER_DSN = dict(conninfo_to_dict(empty.conninfo))
    with empty.connect() as other:
        other.execute("CREATE TABLE django_session (their_own text)")
    with pytest.raises(BackupError, match="isn't empty: it holds another program's tables"):
        backup.restore(tmp_path, demo_user=DEMO_EMAIL)

    with empty.connect() as other:
        other.execute("CREATE TABLE accounts_user AS SELECT %s AS email", [DEMO_EMAIL])
        for table in backup.WRITTEN:
            other.execute(f"CREATE TABLE {table} (written text)")
    assert backup._contents(DEMO_EMAIL) == ""
    with empty.connect() as other:
        other.execute("INSERT INTO memory_fact VALUES ('Mine')")
    with pytest.raises(BackupError, match="isn't empty: it holds what the demo user wrote"):
        backup.restore(tmp_path, demo_user=DEMO_EMAIL)


def test_a_wrong_key_and_a_damaged_file_are_refused_in_one_sentence(
    filled: Server, empty: Server, tmp_path: Path
) -> None:
    backups = tmp_path / "backups"
    source = Place(tmp_path, DATABASE_URL=filled.url, BACKUP_KEY=KEY)
    source.run("backup", backups)
    said = Place(tmp_path, DATABASE_URL=empty.url, BACKUP_KEY="another").run("restore", backups).stderr
    assert "encrypted with another BACKUP_KEY" in said
    assert "Traceback" not in said
    (file,) = backup.backups(backups)
    file.write_bytes(file.read_bytes()[:-1000])
    said = source.run("verify", backups).stderr
    assert "is damaged: its checksum differs" in said
    with psycopg.connect(empty.conninfo) as connection:
        assert connection.execute("SELECT to_regclass('accounts_user')").fetchone() == (None,)


@pytest.fixture
def with_key(settings: Any) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"backup_key": SecretStr(KEY)})


@pytest.mark.usefixtures("with_key")
def test_with_a_key_a_folder_holds_no_backup_that_is_not_encrypted(tmp_path: Path) -> None:
    older_backup(tmp_path, "20261120")
    with pytest.raises(BackupError, match="No encrypted backup is in"):
        backup.restore(tmp_path, demo_user="")


@pytest.mark.usefixtures("with_key")
@pytest.mark.parametrize("ending", [b"", b"\x00", b"\x00\x00\x00\x04five!", b"\xff\xff\xff\xff"])
def test_a_cut_off_file_is_refused_even_if_its_checksum_was_made_to_fit(tmp_path: Path, ending: bytes) -> None:
    file, plain = tmp_path / "recall-20261120T033000Z.dump.sealed", io.BytesIO()
    with file.open("wb") as sealed:
        backup._seal(io.BytesIO(b"x" * backup.CHUNK + b"last"), sealed, KEY)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(backup.MAGIC) + 16 + 4 + backup.CHUNK + 16] + ending)
    with file.open("rb") as cut_off, pytest.raises(BackupError, match="another BACKUP_KEY, or is damaged"):
        backup._unseal(cut_off, plain)


def older_backup(backups: Path, day: str, manifest: str | None = '{"sha256": "", "size": 0}') -> None:
    """An empty file of that name, with this manifest beside it."""
    (backups / f"recall-{day}T033000Z.dump").touch()
    if manifest is not None:
        (backups / f"recall-{day}T033000Z.dump.json").write_text(manifest)


@pytest.mark.usefixtures("here")
def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    for day in (20, 21, 22):
        older_backup(tmp_path, f"202611{day}")
    made = backup.back_up(tmp_path)
    assert [kept.name for kept in backup.backups(tmp_path)] == ["recall-20261122T033000Z.dump", made.name]
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.usefixtures("here")
def test_a_file_without_a_manifest_of_its_own_is_neither_counted_nor_removed(tmp_path: Path) -> None:
    older_backup(tmp_path, "20261120")
    foreign = {"20261119": None, "20261121": "[]", "20261122": "no JSON", "20261123": '{"sha256": "", "size": 7}'}
    for day, manifest in foreign.items():
        older_backup(tmp_path, day, manifest)
    backup.back_up(tmp_path)  # two are kept
    assert len(backup.backups(tmp_path)) == 2 + len(foreign)


@pytest.mark.usefixtures("here")
def test_files_of_other_names_are_no_backups_and_stay(tmp_path: Path) -> None:
    names = ["recall-old.dump", "recall-old.dump.unfinished", "recall-list.dump.json", "recall-2026-11-20.dump.sealed"]
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, time.time() - backup.ABANDONED_AFTER - 60))
    made = backup.back_up(tmp_path)
    assert backup.verify(tmp_path) == made
    assert {file.name for file in tmp_path.iterdir()} >= {made.name, *names}


@pytest.mark.parametrize("manifest", [None, "no JSON", "[]", "{}", '{"sha256": "", "server": "new"}'])
def test_a_backup_without_a_manifest_that_can_be_read_is_refused(tmp_path: Path, manifest: str | None) -> None:
    older_backup(tmp_path, "20261120", manifest)
    with pytest.raises(BackupError, match=r"has no readable \.json beside it"):
        backup.verify(tmp_path)


@pytest.mark.usefixtures("here")
def test_of_two_backups_in_one_second_the_later_leaves_the_other_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "recall-20261120T000000Z.dump.unfinished"
    other.touch()
    then = SimpleNamespace(now=lambda zone: datetime(2026, 11, 20, tzinfo=zone))
    monkeypatch.setattr(backup, "datetime", then)
    with pytest.raises(BackupError, match="Another process writes"):
        backup.back_up(tmp_path)
    assert other.exists()


def test_the_embedded_server_is_started_for_a_backup_and_stopped_again(tmp_path: Path) -> None:
    with open_folder() as first, open_folder() as second:
        prepared.copy_to(first)
        made = Place(first).run("backup", tmp_path)
        assert made.returncode == 0, made.stderr
        restored = Place(second).run("restore", tmp_path)
        assert restored.returncode == 0, restored.stderr
        assert not (second / "postgres" / "postmaster.pid").exists()


def test_client_programs_are_as_new_as_the_server() -> None:
    server = 18
    program = backup._program("pg_dump", server)
    said = subprocess.check_output([program, "--version"], text=True)
    assert int(said.rpartition(") ")[2].partition(".")[0]) >= server
    with pytest.raises(BackupError, match="No pg_dump of PostgreSQL 99 or later"):
        backup._program("pg_dump", 99)


def test_a_failed_backup_leaves_nothing(tmp_path: Path) -> None:
    failed = Place(tmp_path, DATABASE_URL="postgresql://nobody@127.0.0.1:1/none").run("backup", tmp_path / "backups")
    assert failed.returncode != 0
    assert "No backup was made. The database isn't available" in failed.stderr
    assert list((tmp_path / "backups").iterdir()) == []


# Killed --------------------------------------------------------------------------------------------------------------

KILLED: dict[str, str] = {
    "before": "os.kill(os.getpid(), 9)",
    "after": "(rename(*names), os.kill(os.getpid(), 9))",
}
"""A process is killed right before or after a backup gets its name."""


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("moment", KILLED)
def test_a_backup_killed_as_it_ends_leaves_a_folder_that_can_be_restored(
    filled: Server, tmp_path: Path, moment: str
) -> None:
    backups = tmp_path / "backups"
    first = backup.back_up(backups)
    code = f"""
        import os
        from pathlib import Path
        from recall.process.backup import back_up
        rename = Path.rename
        Path.rename = lambda *names: {KILLED[moment]}
        back_up(Path({str(backups)!r}))
    """
    time.sleep(1)  # a name is of a second
    place = Place(tmp_path, DATABASE_URL=filled.url)
    assert place.shell(re.sub(r"^ +", "", code, flags=re.MULTILINE)) == -9
    assert (backup.verify(backups) == first) == (moment == "before")


@pytest.mark.usefixtures("here")
def test_what_a_killed_backup_left_is_removed_and_one_that_still_runs_is_not(tmp_path: Path) -> None:
    backups = tmp_path
    names = ["recall-20261120T033000Z.dump.unfinished", "recall-20261120T033000Z.dump.json"]
    running = "recall-20261121T033000Z.dump.sealed.unfinished"
    for name in (*names, running):
        (backups / name).touch()
    for name in names:
        os.utime(backups / name, (0, time.time() - backup.ABANDONED_AFTER - 60))
    made = backup.back_up(backups)
    assert {file.name for file in backups.iterdir()} == {running, made.name, f"{made.name}.json"}


# Every night ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def nightly(settings: Any, tmp_path: Path) -> Path:
    """The folder of the nightly backup, of this test's database."""
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"backup_dir": tmp_path})
    settings.OWNER_DSN = {**settings.OWNER_DSN, "dbname": connection.settings_dict["NAME"]}
    return tmp_path


@pytest.mark.django_db(transaction=True)
def test_the_nightly_backup_is_made_alone_and_recorded(
    nightly: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert heartbeat.seconds_since(heartbeat.BACKUP) is None
    with psycopg.connect(make_conninfo(**settings.OWNER_DSN), autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(hashtext('recall.backup'), 0)")
        nightly_backup()
        assert backup.backups(nightly) == []
        other.execute(
            "SELECT pg_advisory_unlock(hashtext('recall.backup'), 0)"
        )  # a closed session may hold it a moment
    nightly_backup()
    (made,) = backup.backups(nightly)
    assert backup.verify(made) == made
    assert (heartbeat.seconds_since(heartbeat.BACKUP) or 99) < 60
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
            " WHERE locktype = 'advisory' AND datname = current_database()"
        )
        assert cursor.fetchone() == (0,)
    assert "No backup was made" not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_failed_nightly_backup_is_logged_and_not_recorded(
    nightly: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.OWNER_DSN = {**settings.OWNER_DSN, "dbname": "none"}
    nightly_backup()
    assert "No backup was made. The database isn't available" in caplog.text
    assert heartbeat.seconds_since(heartbeat.BACKUP) is None
