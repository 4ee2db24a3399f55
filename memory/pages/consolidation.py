"""Consolidation reports for the rules page."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from accounts.models import User
from memory.consolidation import jobs
from memory.models import Consolidation

MAX_REPORTS: Final = 5
"""Reports on the page: the last few nights. The API lists all of them."""


@dataclass(frozen=True, slots=True)
class ReportView:
    how: str
    at: datetime
    is_done: bool
    sentences: list[str]
    weighed: int
    """Facts whose decay was calculated."""


def load_reports(user: User) -> dict[str, Any]:
    """The latest reports, newest first. One statement."""
    rows = list(Consolidation.objects.for_user(user).order_by("-pk")[:MAX_REPORTS])
    return {
        "reports": [_build_report_view(row) for row in rows],
        "is_waiting": any(row.state == Consolidation.State.WAITING for row in rows),
    }


def _build_report_view(row: Consolidation) -> ReportView:
    return ReportView(
        how=row.get_how_display(),
        at=row.finished_at or row.created_at,
        is_done=row.state == Consolidation.State.DONE,
        sentences=jobs.sentences(row),
        weighed=jobs.report_of(row).weighed,
    )
