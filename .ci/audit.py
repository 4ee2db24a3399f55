"""Known vulnerabilities of the locked packages, from the package index's own data (its JSON API).

    .venv/bin/python .ci/audit.py [requirements.txt …]

Exits with 1 if there is one that `.ci/audit-exceptions.txt` doesn't list with a reason. Of which versions the index
says nothing (an index of one's own may have no such data), it says so, and they pass: nothing is known of them.
"""

import json
import re
import subprocess
import sys
import urllib.request
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


def audit(index: str, pins: list[tuple[str, str]], excepted: dict[str, str]) -> tuple[list[Finding], dict[str, str]]:
    """What isn't excepted, and the versions of which the index says nothing, with the reason."""

    def ask(pin: tuple[str, str]) -> list[Finding] | OSError | ValueError:
        try:
            return vulnerabilities(index, *pin)
        except (OSError, ValueError) as error:
            return error

    found: list[Finding] = []
    unknown: dict[str, str] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (package, version), answer in zip(pins, pool.map(ask, pins), strict=True):
            if isinstance(answer, Exception):
                unknown[f"{package} {version}"] = str(answer)
            else:
                found += [finding for finding in answer if finding.name not in excepted]
    return found, unknown


def main() -> None:
    locks = [Path(name) for name in sys.argv[1:]] or [ROOT / name for name in LOCKS]
    pins = sorted({pin for lock in locks for pin in pinned(lock.read_text())})
    found, unknown = audit(index_address(), pins, exceptions(EXCEPTIONS.read_text()))
    if pins and len(unknown) == len(pins):
        reason = next(iter(unknown.values()))
        print(f"audit: the index has no data on vulnerabilities ({reason}); nothing was checked")
        return
    for name, reason in unknown.items():
        print(f"{name}: not checked ({reason})")
    for finding in found:
        print(finding)
    checked = f"{len(pins) - len(unknown)} of {len(pins)} packages of {', '.join(lock.name for lock in locks)}"
    print(f"audit: {len(found)} known vulnerabilities in {checked}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
