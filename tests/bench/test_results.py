"""The docs' figures are those that the benches kept, and a ratio that has become more than a tenth worse is named."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import results
from bench.results import ROOT, check, last_release, record, render, worse

PAGES = sorted((ROOT / "docs").glob("*.md"))
TABLES = sorted((ROOT / "bench" / "tables").glob("*.md"))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder of results and one table."""
    (tmp_path / "bench" / "results").mkdir(parents=True)
    (tmp_path / "bench" / "tables").mkdir()
    (tmp_path / "bench" / "tables" / "turn.md").write_text("{turn: run}\n\n|first|{turn: first, p50}|\n")
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "FOLDER", tmp_path / "bench" / "results")
    git(tmp_path, "init", "--quiet")
    return tmp_path


def git(root: Path, *command: str) -> None:
    identity = ("-c", "user.name=Alice", "-c", "user.email=alice@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *command], cwd=root, check=True)


def keep(root: Path, ratio: float, *, tag: str = "") -> None:
    """Record and commit a ratio."""
    record("turn", {"first, p50": (1234.4, "ms")}, {"first over the relay's": ratio})
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--allow-empty", "--message", f"{ratio}")
    if tag:
        git(root, "tag", tag)


def test_a_ratio_may_become_a_tenth_worse_and_no_more() -> None:
    before = {"first token": 1.0, "retrieval": 2.0, "gone": 3.0}

    found = list(worse(before, {"first token": 1.09, "retrieval": 2.3, "new": 9.0}))

    assert found == ["retrieval: 2.0 → 2.3", "gone: 3.0, no longer measured"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_page_has_the_figures_of_the_files(page: Path) -> None:
    assert render(page.read_text()) == page.read_text(), "python -m bench.results --write"


def test_each_table_is_in_a_page_and_each_block_is_closed() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    blocks = re.findall(
        r"^\[figures\]: \.\./(\S+)\n\n(?:(?!\[figures\]).)*?^\[/figures\]: #$", text, re.MULTILINE | re.DOTALL
    )
    assert sorted(blocks) == [str(table.relative_to(ROOT)) for table in TABLES]
    assert text.count("[figures]: ") == text.count("[/figures]: ") == len(blocks)


def test_each_file_has_its_date_cores_load_and_command_and_a_note_if_no_run_wrote_it() -> None:
    for path in (ROOT / "bench" / "results").glob("*.json"):
        run = json.loads(path.read_text())
        assert run["bench"] == path.stem
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", run["date"])
        assert run["cores"] > 0
        assert run["command"].startswith("python ")
        assert (run["load"] is None) == ("note" in run), path.name


def test_the_page_on_scale_counts_users_by_the_turns_that_were_measured() -> None:
    kept = json.loads((ROOT / "bench" / "results" / "load.saturated.json").read_text())["figures"]
    turns = kept["200 sockets, 1 web, turns/s"]["value"]
    page = (ROOT / "docs" / "scale.md").read_text()
    ((users, pause),) = re.findall(r"turns a second: (\d+) users who ask every (\d+) s", page)
    assert int(users) == int(float(f"{turns * int(pause):.2g}"))


def test_a_figure_that_was_edited_by_hand_is_written_over(root: Path) -> None:
    record("turn", {"first, p50": (1234.4, "ms")})
    page = "Before.\n\n[figures]: ../bench/tables/turn.md\n\n|first|999|\n\n[/figures]: #\n\nAfter 999.\n"

    written = render(page)

    assert "|first|1,234|" in written
    assert "|first|999|" not in written
    assert written.startswith("Before.\n\n[figures]: ../bench/tables/turn.md\n\n")
    assert written.endswith("\n\n[/figures]: #\n\nAfter 999.\n")
    assert render(written) == written


def test_a_figure_that_no_run_kept_cannot_be_rendered(root: Path) -> None:
    record("turn", {"first, p95": (1.0, "ms")})

    with pytest.raises(KeyError, match="first, p50"):
        render("[figures]: ../bench/tables/turn.md\n\n[/figures]: #\n")


def test_a_run_is_kept_with_its_command_but_without_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["/home/alice/python", "-m", "bench.turn", "--keep", "/home/alice/rb"])

    record("turn", {"first, p50": (9.876, "ms"), "items": (1_000.0, "")}, {"first over the relay's": 1.23456})

    run: dict[str, Any] = json.loads((root / "bench" / "results" / "turn.json").read_text())
    assert run["command"] == "python -m bench.turn --keep rb"
    assert run["figures"] == {"first, p50": {"value": 9.88, "unit": "ms"}, "items": {"value": 1000, "unit": ""}}
    assert run["ratios"] == {"first over the relay's": 1.235}
    assert run["load"] >= 0


def test_a_count_has_no_decimals_and_a_measured_value_three_digits(root: Path) -> None:
    record("turn", {"items": (1_000, ""), "share": (90.0, "%"), "first": (1234.4, "ms"), "cost": (1.234, "$")})

    kept = (root / "bench" / "results" / "turn.json").read_text()
    assert re.findall(r'"value": ([\d.]+)', kept) == ["1000", "90.0", "1234", "1.23"]


def test_the_check_fails_where_there_are_no_results(root: Path) -> None:
    assert check("HEAD") == 1


def test_a_run_is_compared_with_the_last_release(root: Path) -> None:
    keep(root, 1.0, tag="v1.0")
    keep(root, 1.08)
    keep(root, 1.16)

    assert last_release() == "v1.0"
    assert check(last_release()) == 1


def test_without_a_release_a_run_is_compared_with_the_one_that_was_committed(root: Path) -> None:
    keep(root, 1.0)
    keep(root, 1.08)
    record("turn", {}, {"first over the relay's": 1.16})

    assert check(last_release()) == 0
    assert check("HEAD~1") == 1
