"""The lines of docs/operations.md bring a database back to the minute before it was damaged."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from recall.process import embedded_postgres
from tests.running import PROJECT, Server, open_folder, own_server, wait_until

pytestmark = pytest.mark.processes

SECTION = (PROJECT / "docs" / "operations.md").read_text().partition("## Point-in-time")[2].partition("\n## ")[0]


def documented(first: str, folder: Path) -> list[str]:
    """The printed lines from the one that starts so, with this folder for /srv."""
    (block,) = re.findall(rf"^    {first}.*(?:\n    .*)*", SECTION, re.MULTILINE)
    return [line.strip().replace("/srv", str(folder)) for line in block.splitlines()]


def append(file: Path, lines: list[str]) -> None:
    with file.open("a") as settings:
        settings.write("\n".join(["", *lines, ""]))


def as_server(server: Server, *command: str) -> None:
    """Run a program as the account that owns the data."""
    identity = embedded_postgres.as_account(server.cluster.account)
    subprocess.run(command, check=True, cwd="/", env={"PATH": os.defpath, "LC_ALL": "C"}, **identity)


@contextmanager
def archive_folder(server: Server) -> Iterator[Path]:
    with open_folder() as folder:
        (folder / "archive").mkdir()
        if server.cluster.account is not None:
            for path in (folder, folder / "archive"):
                os.chown(path, server.cluster.account.uid, server.cluster.account.gid)
        yield folder


def rows(server: Server) -> list[str]:
    with server.connect() as connection:
        return [row for (row,) in connection.execute("SELECT what FROM said ORDER BY what").fetchall()]


def test_what_was_there_at_that_time_is_there_again_and_nothing_later() -> None:
    with own_server({}) as server, archive_folder(server) as folder:
        append(server.cluster.data / "postgresql.conf", documented("archive_mode", folder))
        server.stop()
        server.start()
        with server.connect() as connection:
            connection.execute("CREATE TABLE said (what text)")
            connection.execute("INSERT INTO said VALUES ('before the copy')")
        program, *options = shlex.split(documented("pg_basebackup", folder)[0])
        dsn = ("--host", str(server.cluster.socket), "--username", "postgres")
        as_server(server, str(server.cluster.programs / program), *options, *dsn)

        with server.connect() as connection:
            connection.execute("INSERT INTO said VALUES ('after the copy')")
            at = connection.execute("SELECT clock_timestamp()::text").fetchone()
            connection.execute("SELECT pg_sleep(1)")
            connection.execute("TRUNCATE said")
            connection.execute("INSERT INTO said VALUES ('after the accident')")
            last = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
        assert at is not None
        assert last is not None
        wait_until((folder / "archive" / last[0]).exists)
        server.stop()

        recovery = documented("restore_command", folder)
        recovery[1] = re.sub("'.*'", f"'{at[0]}'", recovery[1])
        append(folder / "base" / "postgresql.conf", recovery)
        as_server(server, "touch", str(folder / "base" / "recovery.signal"))
        server.cluster = replace(server.cluster, data=folder / "base")
        server.start()
        wait_until(lambda: has_been_promoted(server))
        assert rows(server) == ["after the copy", "before the copy"]
        server.stop()


def has_been_promoted(server: Server) -> bool:
    with server.connect() as connection:
        return connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
