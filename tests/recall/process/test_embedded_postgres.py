"""The embedded PostgreSQL: starts anywhere, survives being killed, and is closed to others."""

import errno
import os
import stat
import subprocess
from pathlib import Path

import pytest

from recall.process import embedded_postgres
from tests.running import Server, open_folder

pytestmark = pytest.mark.processes


def answers(server: Server) -> bool:
    with server.connect() as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def test_its_address_needs_no_running_server() -> None:
    dsn = embedded_postgres.dsn(Path("/srv/somewhere"))
    assert dsn["dbname"] == "recall"
    assert dsn == embedded_postgres.dsn(Path("/srv/somewhere"))
    assert dsn["host"] != embedded_postgres.dsn(Path("/srv/elsewhere"))["host"]


def test_it_starts_below_a_path_of_150_characters() -> None:
    with open_folder() as folder:
        long = folder / ("a" * 75) / ("b" * 75)
        long.mkdir(parents=True)
        server = Server(long)
        try:
            assert answers(server)
            assert len(f"{server.cluster.socket}/.s.PGSQL.5432") < 104
        finally:
            server.stop()
            embedded_postgres.discard(server.cluster)


def test_it_starts_in_a_folder_that_is_closed_to_everybody_else() -> None:
    """Below a home folder with mode 0700, whose owner may be root."""
    with open_folder() as folder:
        closed = folder / "home"
        closed.mkdir(mode=0o700)
        server = Server(closed)
        try:
            assert answers(server)
            assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        finally:
            server.stop()
            embedded_postgres.discard(server.cluster)


def test_root_keeps_aside_what_postgresqls_account_cannot_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone in a closed home folder: data and programs are elsewhere, linked from it. (Only root needs it.)"""
    with open_folder() as home, open_folder() as aside:
        monkeypatch.setattr(embedded_postgres, "ROOT_HOME", aside)
        monkeypatch.setattr(embedded_postgres, "_can_reach", lambda account, path: False)
        server = Server(home)
        try:
            assert answers(server)
            assert (home / "postgres").resolve().is_relative_to(aside if os.geteuid() == 0 else home)
            assert server.cluster.programs.is_relative_to(aside) is (os.geteuid() == 0)
        finally:
            server.stop()
            embedded_postgres.discard(server.cluster)


def test_only_its_owner_may_enter_the_folder_of_the_socket(server: Server) -> None:
    assert stat.S_IMODE(server.cluster.socket.stat().st_mode) == 0o700


def test_it_listens_on_no_port(server: Server) -> None:
    with server.connect() as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_the_extensions_are_there_in_good_versions(server: Server) -> None:
    from recall.db.requirements import EXTENSIONS, find_unmet_requirement

    with server.connect() as connection:
        offered = connection.execute(
            "SELECT name, default_version FROM pg_available_extensions WHERE name = ANY(%s)", [list(EXTENSIONS)]
        ).fetchall()
    assert find_unmet_requirement(18, dict(offered)) is None


def test_the_database_is_made_once(server: Server) -> None:
    assert embedded_postgres.ensure_database(server.cluster.var_dir, "another") is True
    assert embedded_postgres.ensure_database(server.cluster.var_dir, "another") is False


def test_a_killed_server_comes_back_with_its_data(server: Server) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        connection.execute("CHECKPOINT")
    server.kill()
    server.cluster = embedded_postgres.open_cluster(server.cluster.var_dir)
    server.start()
    with server.connect() as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_a_server_that_a_killed_run_left_is_ended(server: Server) -> None:
    left = server.process
    server.cluster = embedded_postgres.open_cluster(server.cluster.var_dir)
    assert left.wait(10) is not None
    server.start()
    assert answers(server)


def test_a_stale_lock_whose_number_now_belongs_to_a_stranger_does_not_stop_it(server: Server) -> None:
    server.kill()
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        lock = server.cluster.data / "postmaster.pid"
        _, *rest = lock.read_text().splitlines()
        lock.write_text("\n".join([str(stranger.pid), *rest, ""]))
        server.cluster = embedded_postgres.open_cluster(server.cluster.var_dir)
        server.start()
        assert answers(server)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_first_start_that_was_killed_half_way_is_begun_anew() -> None:
    with open_folder() as folder:
        half_way = folder / "postgres.new"
        half_way.mkdir()
        (half_way / "PG_VERSION").write_text("18\n")
        server = Server(folder)
        try:
            assert answers(server)
            assert not half_way.exists()
        finally:
            server.stop()
            embedded_postgres.discard(server.cluster)


def test_a_socket_folder_that_somebody_else_made_is_refused() -> None:
    with open_folder() as folder:
        trap = embedded_postgres.socket_dir(folder)
        trap.symlink_to(folder)
        try:
            with pytest.raises(embedded_postgres.EmbeddedServerError, match="belongs to another user"):
                embedded_postgres.open_cluster(folder)
        finally:
            trap.unlink()


def test_data_of_another_release_is_refused_in_one_sentence() -> None:
    with open_folder() as folder:
        data = folder / "postgres"
        data.mkdir()
        (data / "PG_VERSION").write_text("15\n")
        with pytest.raises(
            embedded_postgres.EmbeddedServerError, match="written by PostgreSQL 15 and this is PostgreSQL 18"
        ):
            embedded_postgres.open_cluster(folder)
        embedded_postgres.socket_dir(folder).rmdir()


def test_a_closed_folder_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(data: Path) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", str(data / "PG_VERSION"))

    monkeypatch.setattr(embedded_postgres, "_version_of", closed)  # root may enter every folder
    with open_folder() as folder:
        with pytest.raises(embedded_postgres.EmbeddedServerError, match=r"Can't access .*PG_VERSION"):
            embedded_postgres.open_cluster(folder)
        embedded_postgres.socket_dir(folder).rmdir()
