"""Backups: one dump of the database, which holds everything, with its size and checksum beside it.

    recall-20261124T033000Z.dump          pg_dump's own format; `.sealed` if BACKUP_KEY encrypts it
    recall-20261124T033000Z.dump.json     what it is: Recall's migrations, the server's release, size, SHA-256

A backup counts once it has been read back in full: until then its name ends with `.unfinished`. `restore` only fills an
empty database.
"""

import hashlib
import json
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

import psycopg
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings
from psycopg.conninfo import make_conninfo

from recall.db.row_security import install_roles
from recall.observability import heartbeat
from recall.process import embedded_postgres

SUFFIX, SEALED, MANIFEST, UNFINISHED = ".dump", ".sealed", ".json", ".unfinished"
NAMES: Final = f"recall-{'[0-9]' * 8}T{'[0-9]' * 6}Z{SUFFIX}*"
"""Any other file is someone else's: not restored, counted or removed."""
ABANDONED_AFTER: Final = 6 * 3600
"""Seconds without a write after which an unfinished backup is a killed process's."""
MAGIC: Final = b"recall-backup-1\n"
CHUNK: Final = 1 << 20
"""Bytes that are encrypted together: a dump may be larger than memory."""
AS_FOUND: Final = ("--no-owner", "--no-privileges", "--enable-row-security")
"""Without roles of this server, which `prepare` gives their rights again. Row security hides nothing from the owner."""
PLACES: Final = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin")
"""Where distributions put the programs of each release."""

PEOPLE: Final = "accounts_user"
WRITTEN: Final = ("chat_conversation", "memory_fact", "memory_upload")
"""Tables that hold rows once an account has been used; new accounts have documents."""


class BackupError(Exception):
    """One sentence that says why there is no backup, or why it can't be restored."""


# The three commands ------------------------------------------------------------------------------------------------


def back_up(folder: Path) -> Path:
    """Write a backup, read it back, remove the oldest beyond BACKUP_KEEP, and return its path.

    A file whose manifest is missing or another's is neither counted nor removed.

    Raises:
        BackupError: nothing was kept.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = settings.ENVIRONMENT.backup_key
    made = folder / f"recall-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{SUFFIX}{SEALED if key else ''}"
    unfinished = made.with_name(f"{made.name}{UNFINISHED}")
    _remove_abandoned(folder)
    with serving_database(), ExitStack() as own_files:
        about = _describe()
        try:
            file = own_files.enter_context(open(unfinished, "xb", opener=_private))
        except FileExistsError:
            raise BackupError(f"Another process writes {unfinished.name}.") from None
        own_files.callback(unfinished.unlink, missing_ok=True)
        _dump(file, about["server"])
        manifest = {**about, "size": unfinished.stat().st_size, "sha256": _digest(unfinished)}
        _read_whole(unfinished, about["server"], is_sealed=bool(key))
        with open(_manifest_of(made), "x", opener=_private) as beside:
            json.dump(manifest, beside, indent=1)
        unfinished.rename(made)  # last: a process killed before leaves no backup without a manifest
        heartbeat.record(heartbeat.BACKUP)
    own = [backup for backup in backups(folder) if _has_manifest(backup)]
    for old in own[: -settings.ENVIRONMENT.backup_keep]:
        old.unlink()  # first: of a process killed between, a manifest is left, which a later backup removes
        _manifest_of(old).unlink(missing_ok=True)
    return made


def verify(place: Path) -> Path:
    """Check the newest backup of a folder, or one file: its checksum, and that it can be read to the end.

    Raises:
        BackupError: it can't be restored.
    """
    backup = _newest(place)
    try:
        manifest = json.loads(_manifest_of(backup).read_text())
        checksum, server = manifest["sha256"], int(manifest["server"])
    except (OSError, ValueError, TypeError, KeyError):
        raise BackupError(f"{backup.name} has no readable {MANIFEST} beside it.") from None
    if checksum != _digest(backup):
        raise BackupError(f"{backup.name} is damaged: its checksum differs.")
    _read_whole(backup, server, is_sealed=backup.name.endswith(SEALED))
    return backup


def restore(place: Path, *, demo_user: str) -> Path:
    """Fill the empty database from the newest backup of a folder, or from one file. An unused demo user doesn't count.

    Raises:
        BackupError: the backup is damaged, or the database holds something; nothing was changed.
    """
    backup = verify(place)
    with serving_database():
        if what := _contents(demo_user):
            raise BackupError(f"The database isn't empty: it holds {what}.")
        install_roles()  # policies name them
        command = ["--clean", "--if-exists", "--no-owner", "--single-transaction", "--exit-on-error"]
        dsn, environment = _connection()
        program = _program("pg_restore", _describe()["server"])
        with _opened(backup, backup.name.endswith(SEALED)) as dump:
            _run([program, *command, "--dbname", dsn], environment, stdin=dump)
    return backup


def backups(folder: Path) -> list[Path]:
    """The finished backups of a folder, oldest first."""
    return sorted(path for path in folder.glob(NAMES) if path.name.endswith((SUFFIX, SEALED)))


# The database ------------------------------------------------------------------------------------------------------


@contextmanager
def serving_database() -> Iterator[None]:
    """Make the database answer within the block: start the embedded server unless Recall is running."""
    if settings.ENVIRONMENT.database_url or embedded_postgres.accepts_connections(settings.VAR_DIR):
        yield
        return
    try:
        cluster = embedded_postgres.open_cluster(settings.VAR_DIR)
        server = cluster.start()
        embedded_postgres.wait_until_ready(cluster, lambda: server.poll() is None)
        embedded_postgres.ensure_database(settings.VAR_DIR)
    except embedded_postgres.EmbeddedServerError as error:
        raise BackupError(str(error)) from error
    try:
        yield
    finally:
        embedded_postgres.stop(server)


def _connection() -> tuple[str, dict[str, str]]:
    """libpq keywords without the password, which process lists would show, and the environment that has it."""
    dsn = {name: value for name, value in settings.OWNER_DSN.items() if name != "password"}
    password = settings.OWNER_DSN.get("password")
    return make_conninfo(**dsn), {**os.environ, **({"PGPASSWORD": password} if password else {})}


def _describe() -> dict[str, Any]:
    with _connect() as connection:
        server = connection.info.server_version // 10_000
        table = connection.execute("SELECT to_regclass('django_migrations') IS NOT NULL").fetchone()
        applied = connection.execute("SELECT app, name FROM django_migrations ORDER BY id") if table == (True,) else ()
        return {"server": server, "migrations": [".".join(row) for row in applied]}


def _contents(demo_user: str) -> str:
    """What a restore would replace; empty if nothing. The demo user counts once it has been used."""
    with _connect() as connection:

        def count(rows: str, *values: str) -> int:
            row = connection.execute(f"SELECT count(*) FROM {rows}", values).fetchone()  # noqa: S608 (constants)
            return row[0] if row else 0

        tables = "pg_tables WHERE schemaname = current_schema()"
        if not count(f"{tables} AND tablename = %s", PEOPLE):
            return "another program's tables" if count(tables) else ""
        if people := count(f"{PEOPLE} WHERE email <> %s", demo_user):
            return f"{people} user{'' if people == 1 else 's'}"
        return "what the demo user wrote" if any(count(table) for table in WRITTEN) else ""


def _connect() -> psycopg.Connection:
    try:
        return psycopg.connect(make_conninfo(**settings.OWNER_DSN), connect_timeout=10)
    except psycopg.OperationalError as error:
        raise BackupError(f"The database isn't available ({str(error).splitlines()[0]}).") from error


# The client programs -----------------------------------------------------------------------------------------------


def _program(name: str, server: int) -> str:
    """The path of a program of the server's release or a later one: the embedded server's, else the system's.

    An older pg_dump refuses a newer server.
    """
    try:
        places = [embedded_postgres.programs()]
    except embedded_postgres.EmbeddedServerError:
        places = []  # not installed
    places += [place for pattern in PLACES for place in sorted(Path("/").glob(pattern[1:]))]
    found = [str(place / name) for place in places if (place / name).exists()]
    if on_path := shutil.which(name):
        found.append(on_path)
    for program in found:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
        release = said.rpartition(") ")[2].partition(".")[0].split()
        if release and release[0].isdigit() and int(release[0]) >= server:
            return program
    raise BackupError(f"No {name} of PostgreSQL {server} or later was found. Install the server's client programs.")


def _dump(file: IO[bytes], server: int) -> None:
    dsn, environment = _connection()
    command = [_program("pg_dump", server), "--format", "custom", *AS_FOUND, "--dbname", dsn]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as dumping:  # noqa: S603
        assert dumping.stdout is not None
        assert dumping.stderr is not None
        key = settings.ENVIRONMENT.backup_key
        if key is None:
            shutil.copyfileobj(dumping.stdout, file, CHUNK)
        else:
            _seal(dumping.stdout, file, key.get_secret_value())
        said = dumping.stderr.read().decode(errors="replace")
    if dumping.returncode:
        raise BackupError(f"pg_dump failed: {said.strip().splitlines()[-1] if said.strip() else dumping.returncode}.")
    file.flush()
    os.fsync(file.fileno())


def _read_whole(backup: Path, server: int, *, is_sealed: bool) -> None:
    """Have pg_restore read everything, as it would for a restore."""
    with _opened(backup, is_sealed) as dump:
        _run([_program("pg_restore", server), "--file", os.devnull], dict(os.environ), stdin=dump)


def _run(command: list[str], environment: dict[str, str], *, stdin: Callable[[IO[bytes]], None]) -> None:
    """Run a program that reads what `stdin` writes."""
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        assert running.stdin is not None
        assert running.stderr is not None
        try:
            with running.stdin as into:
                stdin(into)
        except BrokenPipeError:
            pass  # the program's own output says why
        said = running.stderr.read().decode(errors="replace")
    if running.returncode:
        raise BackupError(f"The backup can't be read: {said.strip().splitlines()[0] if said.strip() else 'no reason'}.")


# Encryption --------------------------------------------------------------------------------------------------------


def _seal(source: IO[bytes], into: IO[bytes], key: str) -> None:
    """Encrypt in chunks. Each knows its position and the last one is marked: none can be left out or cut off."""
    salt = os.urandom(16)
    cipher = _cipher(key, salt)
    into.write(MAGIC + salt)
    number, chunk = 0, source.read(CHUNK)
    while True:
        following = source.read(CHUNK)
        sealed = cipher.encrypt(struct.pack(">IQ", 0, number), chunk, b"more" if following else b"last")
        into.write(struct.pack(">I", len(sealed)) + sealed)
        if not following:
            return
        number, chunk = number + 1, following


@contextmanager
def _opened(backup: Path, is_sealed: bool) -> Iterator[Callable[[IO[bytes]], None]]:
    """A function that writes the dump, decrypted, into a pipe."""
    with backup.open("rb") as file:
        yield lambda into: _unseal(file, into) if is_sealed else shutil.copyfileobj(file, into, CHUNK)


def _unseal(file: IO[bytes], into: IO[bytes]) -> None:
    key = settings.ENVIRONMENT.backup_key
    if key is None:
        raise BackupError("This backup is encrypted. Set BACKUP_KEY.")
    if file.read(len(MAGIC)) != MAGIC:
        raise BackupError("This is no backup of Recall's.")
    cipher = _cipher(key.get_secret_value(), file.read(16))
    number, length = 0, file.read(4)
    while length:
        try:
            sealed, length = file.read(struct.unpack(">I", length)[0]), file.read(4)
            into.write(cipher.decrypt(struct.pack(">IQ", 0, number), sealed, b"more" if length else b"last"))
        except (InvalidTag, ValueError, struct.error):
            raise BackupError("This backup was encrypted with another BACKUP_KEY, or is damaged.") from None
        number += 1


def _cipher(key: str, salt: bytes) -> AESGCM:
    return AESGCM(Scrypt(salt=salt, length=32, n=1 << 15, r=8, p=1).derive(key.encode()))


# Files -------------------------------------------------------------------------------------------------------------


def _newest(place: Path) -> Path:
    """The backup itself, or the newest of a folder. With BACKUP_KEY only an encrypted one: a restore runs what is in
    it, and anyone who may write into the folder could add another."""
    if place.is_file():
        return place
    has_key = settings.ENVIRONMENT.backup_key is not None
    found = [backup for backup in backups(place) if backup.name.endswith(SEALED) or not has_key]
    if not found:
        raise BackupError(f"No {'encrypted ' if has_key else ''}backup is in {place}.")
    return found[-1]


def _remove_abandoned(folder: Path) -> None:
    """Remove what backups left that were killed: unfinished ones, and manifests without a backup."""
    for left in folder.glob(NAMES):
        is_part = left.suffix == UNFINISHED or (left.suffix == MANIFEST and not left.with_suffix("").exists())
        if is_part and time.time() - left.stat().st_mtime > ABANDONED_AFTER:
            left.unlink(missing_ok=True)


def _private(name: str, flags: int) -> int:
    """Open a file that only its owner may read, from its first byte on."""
    return os.open(name, flags, 0o600)


def _manifest_of(backup: Path) -> Path:
    return backup.with_name(f"{backup.name}{MANIFEST}")


def _has_manifest(backup: Path) -> bool:
    """Whether the manifest beside it is this file's, by the size: a checksum would read every backup every night."""
    try:
        manifest = json.loads(_manifest_of(backup).read_text())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and "sha256" in manifest and manifest.get("size") == backup.stat().st_size


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
