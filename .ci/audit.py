"""Known vulnerabilities of the locked packages, from the package index's own data (its JSON API).

    .venv/bin/python .ci/audit.py [requirements.txt …]

Exits with 1 if there is one that `.ci/audit-exceptions.txt` doesn't list with a reason. Without an answer of the index
(an index of one's own may have no such data) it says so and passes: nothing is known then.
"""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from pip._internal.models.index import PyPI

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.txt", "requirements-tracing.txt", "requirements-dev.txt")
EXCEPTIONS = ROOT / ".ci" / "audit-exceptions.txt"
"""`ID | reason`, one a line."""
PINNED = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
AT_ONCE = 4
SECONDS = 20


class Finding(NamedTuple):
    """One known vulnerability of a locked version."""

    package: str
    version: str
    name: str
    fixed_in: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}: {self.name}, fixed in {self.fixed_in or 'no version yet'}"


def pinned(text: str) -> list[tuple[str, str]]:
    """Package and version of each line of a lock file."""
    return PINNED.findall(text)


def index_address() -> str:
    """Of the index that pip uses; the environment comes last, as it counts most."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    configured = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    named = re.findall(r"^[\w:]+\.index-url='(.*)'$", configured, re.MULTILINE)
    environment = re.findall(r"^:env:\.index-url='(.*)'$", configured, re.MULTILINE)
    address = [PyPI.simple_url, *named, *environment][-1]
    return address.rstrip("/").removesuffix("/simple") + "/pypi"


def vulnerabilities(index: str, package: str, version: str) -> list[Finding]:
    """What the index knows of one version, without what was withdrawn.

    Raises:
        OSError: it doesn't answer, or doesn't know the version.
    """
    with urllib.request.urlopen(f"{index}/{package}/{version}/json", timeout=SECONDS) as answer:  # noqa: S310
        known = json.load(answer).get("vulnerabilities") or []
    return [
        Finding(package, version, advisory["id"], ", ".join(advisory.get("fixed_in") or []))
        for advisory in known
        if not advisory.get("withdrawn")
    ]


def exceptions(text: str) -> dict[str, str]:
    """Reason by id."""
    lines = [line.partition("|") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {name.strip(): reason.strip() for name, _, reason in lines if reason.strip()}


def audit(index: str, locks: list[Path], excepted: dict[str, str]) -> Iterator[Finding]:
    """What isn't excepted.

    Raises:
        OSError: the index doesn't answer.
    """
    packages = sorted({pin for lock in locks for pin in pinned(lock.read_text())})
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for found in pool.map(lambda pin: vulnerabilities(index, *pin), packages):
            yield from [finding for finding in found if finding.name not in excepted]


def main() -> None:
    locks = [Path(name) for name in sys.argv[1:]] or [ROOT / name for name in LOCKS]
    try:
        found = list(audit(index_address(), locks, exceptions(EXCEPTIONS.read_text())))
    except (OSError, ValueError) as error:
        print(f"audit: the index has no data on vulnerabilities ({error}); nothing was checked")
        return
    for finding in found:
        print(finding)
    print(f"audit: {len(found)} known vulnerabilities in {', '.join(lock.name for lock in locks)}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
