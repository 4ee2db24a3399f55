"""An own PostgreSQL whose logins are no superusers: one for the owner of the tables, one for the application."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import psycopg
import pytest

from recall.db.requirements import EXTENSIONS
from recall.process import embedded_postgres
from tests.running import COMPOSE, PROJECT, Server, clean_environment, own_server

pytestmark = pytest.mark.processes


PLAIN: Final = ("CREATE ROLE owner LOGIN", "CREATE ROLE app LOGIN")
DOCUMENTED: Final = ("CREATE ROLE owner LOGIN CREATEROLE", "CREATE ROLE app LOGIN ADMIN owner")
"""What the two `createuser` of docs/self-hosting.md do."""


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """With both logins, and a database that the first one owns, empty until a test prepares it: once for each pair of
    logins, as that takes five seconds."""
    with own_server() as server, server.connect() as connection:
        for statement in request.param:
            connection.execute(statement)
        connection.execute("CREATE DATABASE own OWNER owner")
        with psycopg.connect(server.conninfo, dbname="own", autocommit=True) as own:
            for name in EXTENSIONS:
                own.execute(f"CREATE EXTENSION {name}")
        yield server


def manage(server: Server, *command: str, app: str = "app") -> subprocess.CompletedProcess[str]:
    """Run a command with both logins."""
    url = f"postgresql://{{}}@/own?host={server.cluster.socket}"
    return run(server, *command, DATABASE_URL=url.format(app), DATABASE_OWNER_URL=url.format("owner"))


def run(server: Server, *command: str, **addresses: str) -> subprocess.CompletedProcess[str]:
    """Run a command with these addresses."""
    environment = clean_environment(VAR_DIR=str(server.cluster.var_dir / "app"), SECRET_KEY="x" * 50, **addresses)
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


MAKE_ANN: Final = (
    "from accounts.models import User; User.objects.create_user('ann@example.org', 'correct horse battery')"
)
MAKE_OR_FIND_ANN: Final = "from accounts.models import User; User.objects.get_or_create(email='ann@example.org')"


@pytest.mark.parametrize("server", [DOCUMENTED], indirect=True, ids=["documented"])
def test_machines_that_prepare_one_database_at_once_take_turns(server: Server) -> None:
    with ThreadPoolExecutor(2) as machines:
        prepared = list(machines.map(lambda _: manage(server, "prepare"), range(2)))
    assert [machine.returncode for machine in prepared] == [0, 0], [machine.stderr for machine in prepared]


@pytest.mark.parametrize("server", [DOCUMENTED], indirect=True, ids=["documented"])
def test_the_documented_logins_need_no_superuser(server: Server) -> None:
    for app in ("app", "owner"):  # then one login for both, which finds the tables
        prepared = manage(server, "prepare", app=app)
        assert prepared.returncode == 0, prepared.stderr
        assert manage(server, "shell", "-c", MAKE_OR_FIND_ANN, app=app).returncode == 0
        with psycopg.connect(server.conninfo, dbname="own", user=app) as connection:
            connection.execute("SET ROLE recall_user")
            assert connection.execute("SELECT * FROM accounts_user").fetchall() == []
            connection.execute("SET ROLE recall_system")
            assert len(connection.execute("SELECT * FROM accounts_user").fetchall()) == 1


@pytest.mark.parametrize("server", [PLAIN], indirect=True, ids=["plain"])
def test_a_superuser_is_told_what_to_run_and_then_everything_works(server: Server) -> None:
    refused = manage(server, "prepare")
    assert refused.returncode == 1
    assert "A superuser of the database has to run this once: CREATE ROLE recall_user NOLOGIN;" in refused.stderr
    with server.connect() as connection:
        connection.execute(refused.stderr.partition(" once: ")[2])

    assert manage(server, "prepare").returncode == 0
    assert manage(server, "prepare").returncode == 0, "again, too"

    assert manage(server, "shell", "-c", MAKE_ANN).returncode == 0
    backups = server.cluster.var_dir / "backups"
    said = manage(server, "backup", str(backups))
    assert said.returncode == 0, said.stderr
    with psycopg.connect(server.conninfo, dbname="own", user="app") as app:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("SELECT * FROM accounts_user")
        app.rollback()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("SET ROLE owner")
        app.rollback()
        app.execute("SET ROLE recall_user")
        assert app.execute("SELECT * FROM accounts_user").fetchall() == []


def at(server: Server, service: str) -> dict[str, str]:
    """The database's addresses that the compose file gives a service, on this server."""
    given = {name: url for name, url in COMPOSE[service]["environment"].items() if name.startswith("DATABASE_")}
    here = f"@/recall?host={server.cluster.socket}"
    for name, url in given.items():
        given[name] = re.sub(r"\$\{[^}]*\}", "word", url).replace("@postgres:5432/recall", here)
    return given


@pytest.fixture
def container() -> Iterator[Server]:
    """With what its image makes: a superuser and the database."""
    with own_server() as server, server.connect() as superuser:
        superuser.execute("CREATE ROLE recall LOGIN SUPERUSER")
        superuser.execute("ALTER DATABASE recall OWNER TO recall")
        yield server


def test_the_pages_of_the_compose_file_cannot_turn_row_security_off(container: Server) -> None:
    (*shell, script) = COMPOSE["logins"]["command"]
    environment = {
        "PATH": f"{embedded_postgres.programs()}:{os.environ['PATH']}",
        "PGHOST": str(container.cluster.socket),
        "PGUSER": COMPOSE["logins"]["environment"]["PGUSER"],
        "APPLICATION_PASSWORD": "it's long",
    }
    for _ in range(2):
        subprocess.run([*shell, script.replace("$$", "$")], env=environment, check=True)
        prepared = run(container, "prepare", **at(container, "migrate"))
        assert prepared.returncode == 0, prepared.stderr

    assert at(container, "worker") == at(container, "migrate")
    assert list(at(container, "web")) == list(at(container, "beat")) == ["DATABASE_URL"]
    assert COMPOSE["web"]["environment"]["POSTGRES_PASSWORD"] == "", "the file of secrets has the owner's"
    with psycopg.connect(at(container, "web")["DATABASE_URL"]) as pages:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            pages.execute("ALTER TABLE chat_message DISABLE ROW LEVEL SECURITY")
        pages.rollback()
        assert pages.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (False,)
