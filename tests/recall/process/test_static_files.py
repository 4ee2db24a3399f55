"""Static files are collected when a start finds different sources than the last one."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders

from recall.process.static_files import collect_if_changed


@pytest.fixture
def sources(tmp_path: Path, settings: Any) -> Path:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "page.css").write_text("body { margin: 0 }")
    settings.STATICFILES_DIRS = [sources]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "collected"
    finders.get_finder.cache_clear()  # type: ignore[attr-defined]
    return sources


def test_they_are_collected_at_the_first_start_and_not_at_the_second(sources: Path, tmp_path: Path) -> None:
    assert collect_if_changed() is True
    assert (tmp_path / "collected" / "page.css").read_text() == "body { margin: 0 }"
    assert collect_if_changed() is False


def test_they_are_collected_again_when_one_changed(sources: Path, tmp_path: Path) -> None:
    collect_if_changed()
    (sources / "page.css").write_text("body { margin: 1rem }")
    assert collect_if_changed() is True
    assert (tmp_path / "collected" / "page.css").read_text() == "body { margin: 1rem }"


def test_one_that_is_gone_is_not_served_any_more(sources: Path, tmp_path: Path) -> None:
    (sources / "old.js").write_text("1")
    collect_if_changed()
    (sources / "old.js").unlink()
    assert collect_if_changed() is True
    assert not (tmp_path / "collected" / "old.js").exists()
