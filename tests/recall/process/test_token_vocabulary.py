"""The vocabulary is downloaded once, from the first source with the true file; without a network no one waits."""

import hashlib
import inspect
import os
import re
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path

import pytest

from recall.process import token_vocabulary
from recall.process.token_vocabulary import FAILURE_MARKER, FILE_NAME, REQUIREMENT, RETRY_SECONDS, WHEEL_MEMBER, provide

TRUE = b"the true vocabulary"


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_vocabulary, "SHA256", hashlib.sha256(TRUE).hexdigest())


class Place:
    """A source that counts its requests."""

    def __init__(self, content: bytes | None) -> None:
        self.content, self.asked = content, 0

    def __call__(self) -> bytes | None:
        self.asked += 1
        return self.content


def test_the_first_place_that_has_it_is_the_last_one_asked(tmp_path: Path) -> None:
    first, second, third = Place(None), Place(TRUE), Place(TRUE)
    outcome = provide(tmp_path, sources={"here": first, "there": second, "elsewhere": third})
    assert outcome.found
    assert "from there" in outcome.sentence
    assert (tmp_path / FILE_NAME).read_bytes() == TRUE
    assert [first.asked, second.asked, third.asked] == [1, 1, 0]


def test_an_altered_file_is_not_taken(tmp_path: Path) -> None:
    outcome = provide(tmp_path, sources={"here": Place(TRUE + b"!"), "there": Place(b"<html>Log in</html>")})
    assert not outcome.found
    assert "estimated" in outcome.sentence
    assert [path.name for path in tmp_path.iterdir()] == [FAILURE_MARKER]


def test_what_is_in_place_is_not_fetched_again(tmp_path: Path) -> None:
    place = Place(TRUE)
    assert provide(tmp_path, sources={"here": place}).found
    outcome = provide(tmp_path, sources={"here": place})
    assert (outcome.found, place.asked) == (True, 1)
    assert "installed" in outcome.sentence


def test_a_damaged_file_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(TRUE[:5])
    assert provide(tmp_path, sources={"here": Place(TRUE)}).found
    assert (tmp_path / FILE_NAME).read_bytes() == TRUE


def test_after_a_failure_the_network_is_left_alone_for_a_day(tmp_path: Path) -> None:
    place = Place(None)
    provide(tmp_path, sources={"here": place})
    assert not provide(tmp_path, sources={"here": place}).found
    assert place.asked == 1

    yesterday = time.time() - RETRY_SECONDS - 60
    os.utime(tmp_path / FAILURE_MARKER, (yesterday, yesterday))
    place.content = TRUE
    assert provide(tmp_path, sources={"here": place}).found
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_asking_again_does_not_wait_for_the_day(tmp_path: Path) -> None:
    provide(tmp_path, sources={"here": Place(None)})
    assert provide(tmp_path, again=True, sources={"here": Place(TRUE)}).found


def test_a_folder_that_cannot_be_written_is_said_and_not_raised(tmp_path: Path) -> None:
    blocked = tmp_path / "a file where the folder should be"
    blocked.write_text("")
    outcome = provide(blocked / "tiktoken", sources={"here": Place(TRUE)})
    assert not outcome.found
    assert "can't write" in outcome.sentence


# Its usual address


class Host(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/silent":
            time.sleep(3)
        self.send_response(404 if self.path == "/nothing" else 200)
        self.end_headers()
        self.wfile.write(TRUE)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_file_is_read_from_its_address(host: str) -> None:
    assert token_vocabulary.from_tiktoken_url(f"{host}/file") == TRUE


def test_an_address_without_the_file_gives_nothing(host: str) -> None:
    assert token_vocabulary.from_tiktoken_url(f"{host}/nothing") is None


def test_a_host_that_does_not_answer_is_not_waited_for(host: str) -> None:
    started = time.monotonic()
    assert token_vocabulary.from_tiktoken_url(f"{host}/silent", answer_seconds=0.2) is None
    assert time.monotonic() - started < 2


def test_a_name_that_takes_for_ever_to_look_up_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def look_up(*_: object, **__: object) -> None:
        release.wait(10)
        raise OSError("Name or service not known")

    monkeypatch.setattr(token_vocabulary, "urlopen", look_up)
    started = time.monotonic()
    assert token_vocabulary.from_tiktoken_url(answer_seconds=0.2) is None
    assert time.monotonic() - started < 2
    release.set()


def test_a_refused_connection_gives_nothing() -> None:
    assert token_vocabulary.from_tiktoken_url("http://127.0.0.1:9/file") is None


# The wheel


class Pip:
    """Stands in for the command: records it, and puts a wheel where it should."""

    def __init__(self, members: dict[str, bytes] | bytes) -> None:
        self.members, self.command = members, [""]

    def __call__(self, command: list[str], **options: object) -> None:
        self.command, self.options = command, options
        wheel = Path(command[command.index("--dest") + 1]) / "some-1.0-py3-none-any.whl"
        if isinstance(self.members, bytes):
            wheel.write_bytes(self.members)
            return
        with zipfile.ZipFile(wheel, "w") as content:
            for name, data in self.members.items():
                content.writestr(name, data)


def test_one_file_is_taken_out_of_the_wheel() -> None:
    pip = Pip({"llama_index/core/__init__.py": b"raise SystemExit", WHEEL_MEMBER: TRUE})
    assert token_vocabulary.from_wheel(run=pip) == TRUE
    assert {"download", "--no-deps", "--require-hashes", str(REQUIREMENT)} <= set(pip.command)
    assert pip.options["timeout"] == token_vocabulary.WHEEL_SECONDS
    assert not Path(pip.command[pip.command.index("--dest") + 1]).exists()


@pytest.mark.parametrize("members", [{"something/else": b""}, b"no zip file"])
def test_a_wheel_without_the_file_gives_nothing(members: dict[str, bytes] | bytes) -> None:
    assert token_vocabulary.from_wheel(run=Pip(members)) is None


@pytest.mark.parametrize(
    "failure",
    [
        subprocess.CalledProcessError(1, "pip"),
        subprocess.TimeoutExpired("pip", 120),
        FileNotFoundError("no interpreter"),
    ],
)
def test_a_package_index_out_of_reach_gives_nothing(failure: Exception) -> None:
    def run(*_: object, **__: object) -> None:
        raise failure

    assert token_vocabulary.from_wheel(run=run) is None


def test_the_wheel_is_pinned_to_one_version_and_its_hash() -> None:
    pins = [line for line in REQUIREMENT.read_text().splitlines() if line and not line.startswith("#")]
    assert re.fullmatch(r"llama-index-core==[\d.]+ \\ +--hash=sha256:[0-9a-f]{64}", " ".join(pins))


# What tiktoken expects


def test_address_and_hash_are_the_ones_in_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the true hash again
    source = inspect.getsource(import_module("tiktoken_ext.openai_public"))
    source = source[source.index("def o200k_base") : source.index("def o200k_harmony")]
    assert f'"{token_vocabulary.ADDRESS}"' in source
    assert f'expected_hash="{token_vocabulary.SHA256}"' in source


def test_the_places_are_asked_in_the_order_the_module_says() -> None:
    assert list(token_vocabulary.SOURCES.values()) == [
        token_vocabulary.from_tiktoken_url,
        token_vocabulary.from_wheel,
    ]


def test_the_command_says_in_one_line_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(token_vocabulary, "_configured_folder", lambda: tmp_path)
    monkeypatch.setattr(token_vocabulary, "SOURCES", {"a test": Place(TRUE)})
    token_vocabulary.main([])
    assert capsys.readouterr().out == "Downloaded the token vocabulary o200k_base from a test.\n"
