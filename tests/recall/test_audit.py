"""`make audit` finds known vulnerabilities of locked packages in what the package index says of them."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.running import PROJECT, clean_environment, free_port

KNOWN = {
    "/pypi/good/1.0/json": [],
    "/pypi/bad/2.0/json": [
        {"id": "TEST-1", "fixed_in": ["2.1"], "withdrawn": None},
        {"id": "TEST-2", "fixed_in": [], "withdrawn": "2026-01-01T00:00:00Z"},
    ],
}


class Index(BaseHTTPRequestHandler):
    """Answers like a package index' JSON API."""

    def do_GET(self) -> None:
        known = self.path in KNOWN
        self.send_response(200 if known else 404)
        self.end_headers()
        if known:
            self.wfile.write(json.dumps({"vulnerabilities": KNOWN[self.path]}).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()


def audit(tmp_path: Path, index: str, *packages: str) -> subprocess.CompletedProcess[str]:
    lock = tmp_path / "requirements.txt"
    lock.write_text("\n".join(f"{package} ; python_version > '3' \\\n    --hash=sha256:0" for package in packages))
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nindex-url = {index}\n")
    environment = clean_environment(PIP_CONFIG_FILE=str(configuration))
    command = [sys.executable, ".ci/audit.py", str(lock)]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


def test_a_known_vulnerability_fails_the_check(tmp_path: Path, index: str) -> None:
    said = audit(tmp_path, index, "good==1.0", "bad==2.0")
    assert said.returncode == 1, said.stderr
    assert said.stdout.splitlines()[0] == "bad 2.0: TEST-1, fixed in 2.1"


def test_without_one_it_passes(tmp_path: Path, index: str) -> None:
    said = audit(tmp_path, index, "good==1.0")
    assert (said.returncode, said.stdout) == (
        0,
        "audit: 0 known vulnerabilities in 1 of 1 packages of requirements.txt\n",
    )


def test_one_version_that_the_index_does_not_know_hides_nothing(tmp_path: Path, index: str) -> None:
    said = audit(tmp_path, index, "absent==3.0", "bad==2.0", "good==1.0")
    assert said.returncode == 1
    assert said.stdout.splitlines() == [
        "absent 3.0: not checked (HTTP Error 404: Not Found)",
        "bad 2.0: TEST-1, fixed in 2.1",
        "audit: 1 known vulnerabilities in 2 of 3 packages of requirements.txt",
    ]


def test_an_index_that_knows_nothing_is_said_and_not_taken_for_safety(tmp_path: Path, index: str) -> None:
    for address in (index, f"http://127.0.0.1:{free_port()}/simple"):
        said = audit(tmp_path, address, "absent==3.0")
        assert (said.returncode, said.stdout.count("nothing was checked")) == (0, 1)
