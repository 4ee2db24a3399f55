"""The pages of memory: its tabs, and what its menu holds."""

from dataclasses import dataclass
from typing import Final

from django.urls import reverse


@dataclass(frozen=True, slots=True)
class Entry:
    """One page of memory in the navigation."""

    label: str
    url_name: str
    beneath: tuple[str, ...] = ()
    """Prefixes of other URLs that belong to it."""


TABS: Final = (
    Entry("About you", "memory:about", ("/memory/facts/", "/memory/why/")),
    Entry("To review", "memory:review", ("/memory/review/",)),
    Entry("Documents", "memory:documents", ("/memory/documents/", "/memory/versions/", "/memory/save/")),
    Entry("Timeline", "memory:timeline", ("/memory/timeline/",)),
)
MENU: Final = (
    Entry("Rules", "memory:rules"),
    Entry("History", "memory:history"),
    Entry("Time travel", "memory:time_travel", ("/answers",)),
    Entry("Access log", "memory:access_log"),
    Entry("Forgetting", "memory:forgotten", ("/memory/forget",)),
)


def locate(entries: tuple[Entry, ...], path: str) -> list[tuple[str, str, bool]]:
    """Each entry's label and URL, and whether the page at `path` belongs to it."""
    rows = [(entry, reverse(entry.url_name)) for entry in entries]
    return [(entry.label, url, path == url or path.startswith(entry.beneath)) for entry, url in rows]
