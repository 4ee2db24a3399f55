"""A machine as the documentation describes it: the commands it prints, run in an environment with nothing else."""

import copy
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self
from urllib.parse import quote

import psycopg

from recall.process import embedded_postgres
from tests.running import COMPOSE, PROJECT, Server, clean_environment, free_port, share_caches, wait_until

PROGRAMS = str(Path(sys.executable).parent)


def documented(program: str) -> str:
    """The line of "Many machines" that starts with these words."""
    (line,) = re.findall(rf"^({program}.*?)(?: +#.*)?$", printed("## Many machines"), re.MULTILINE)
    assert isinstance(line, str)
    return line


def printed(heading: str) -> str:
    """The indented lines below a heading of the page for operators."""
    text = (PROJECT / "docs" / "self-hosting.md").read_text()
    section = text.partition(f"\n{heading}\n")[2].partition("\n#")[0]
    return "\n".join(re.findall(r"^    (.*)$", section, re.MULTILINE))


def make_own_database(server: Server) -> dict[str, str]:
    """Make logins and a database with the commands of "Your own PostgreSQL"; its addresses. Passwords are checked."""
    with psycopg.connect(server.conninfo, dbname="postgres", autocommit=True) as superuser:
        superuser.execute("DROP DATABASE recall")  # a test's server has both already
        superuser.execute("DROP ROLE recall_app")
        (server.cluster.data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
        superuser.execute("SELECT pg_reload_conf()")
    socket = str(server.cluster.socket)
    environment = {
        "PATH": f"{embedded_postgres.programs()}:{os.environ['PATH']}",
        "PGHOST": socket,
        "PGUSER": "postgres",
    }
    page = printed("### Your own PostgreSQL")
    for command in re.findall(r"^sudo -u postgres (.*)$", page.replace("\\\n", ""), re.MULTILINE):
        password = "password\npassword\n"  # read from here where no terminal is
        subprocess.run(
            command, shell=True, env=environment, start_new_session=True, input=password, text=True, check=True
        )
    addresses = dict(re.findall(r"^(DATABASE_\w+)=(.*)$", page, re.MULTILINE))
    return {name: url.replace("localhost", quote(socket, safe="")) for name, url in addresses.items()}


class Machine:
    """What every machine has: addresses and the key, nothing of a developer's."""

    def __init__(self, folder: Path, **addresses: str) -> None:
        self.folder = folder
        self.offline = free_port()
        share_caches(folder)
        self.environment = clean_environment(
            PATH=f"{PROGRAMS}:{os.environ['PATH']}",
            SECRET_KEY="the same on every machine, and long enough for anyone",
            OFFLINE_URL=f"http://127.0.0.1:{self.offline}",
            OFFLINE_ADMIN="1",
            VAR_DIR=str(folder),
            **addresses,
        )

    def here(self, command: str, port: int = 0) -> str:
        """The command with this machine's port and folder."""
        return (
            command.replace("8000", str(port))
            .replace("8100", str(self.offline))
            .replace("/var/lib/recall", str(self.folder))
        )

    def also(self, **addresses: str) -> Self:
        """The same machine, for processes that get these addresses, too."""
        other = copy.copy(self)
        other.environment = {**self.environment, **addresses}
        return other

    def run(self, command: str) -> None:
        """Run a command to its end."""
        subprocess.run(self.here(command), shell=True, cwd=PROJECT, env=self.environment, check=True)

    def use_static_files(self, server: Server) -> None:
        """Serve those that were collected with the server's tables, instead of collecting them again."""
        (self.folder / "static").symlink_to(server.cluster.var_dir / "static")

    def start(self, command: str, port: int = 0) -> subprocess.Popen[bytes]:
        """A process that serves until someone ends it."""
        with (self.folder / f"{shlex.split(command)[-1].replace('/', '-')}.log").open("ab") as output:
            return subprocess.Popen(
                shlex.split(self.here(command, port)),
                cwd=PROJECT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @contextmanager
    def running(self, command: str, port: int = 0) -> Iterator[subprocess.Popen[bytes]]:
        """A process that serves until the end of the block."""
        process = self.start(command, port)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)

    def wait_until_healthy(self, service: str, port: int = 8000, seconds: float = 100.0) -> None:
        """Wait for the container's health check, a process that takes time from what is starting."""
        wait_until(lambda: self.is_healthy(service, port), seconds, lambda: f"{service} isn't healthy", every=0.5)

    def is_healthy(self, service: str, port: int = 8000) -> bool:
        """The result of the container's health check."""
        default = ["CMD", "python", "docker/healthcheck.py"]
        check = COMPOSE[service].get("healthcheck", {}).get("test", default)
        environment = {**self.environment, "PORT": str(port)}
        return subprocess.run(check[1:], cwd=PROJECT, env=environment, stderr=subprocess.DEVNULL).returncode == 0


def is_embedded(database: Server) -> bool:
    with psycopg.connect(database.conninfo) as connection:
        row = connection.execute("SELECT count(*), count(vector) FROM memory_chunk").fetchone()
    assert row is not None
    return bool(row[0] > 0 and row[0] == row[1])
