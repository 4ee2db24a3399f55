"""An archive is untrusted: it may be made up, and imports nothing that reaches beyond its own account."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from budget.models import UsageDay
from chat.archive import safe_zip
from chat.archive.restore import NOT_CONSISTENT
from chat.archive.safe_zip import NotImportedError
from memory.models import Fact, ReviewAction
from memory.review import decisions
from tests.chat.archive.test_archive import Rows, brought, packed, repacked, rows
from tests.chat.archive.whole_account import fill

pytestmark = pytest.mark.django_db


def made_up(content: bytes, table: str, change: Callable[[Rows], None]) -> bytes:
    """The archive with one table's rows changed by `change`."""
    told = rows(content)
    change(told)
    return repacked(content, **{f"data_{table.replace('.', '_')}_jsonl": "\n".join(map(json.dumps, told[table]))})


def test_a_decision_that_came_in_gives_nobody_a_fact(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)

    def claim(told: Rows) -> None:
        for action in told["memory.reviewaction"]:
            for columns in action["before"].values():
                columns["user_id"] = charlie.pk

    brought(bob, made_up(packed(alice), "memory.reviewaction", claim))
    action = ReviewAction.objects.for_user(bob).get(verb="edit")
    assert not any("user_id" in columns for columns in action.before.values())
    before = Fact.objects.for_user(charlie).count()
    ReviewAction.objects.filter(pk=action.pk).update(
        before={pk: columns | {"user_id": charlie.pk} for pk, columns in action.before.items()}
    )
    decisions.undo(action)
    assert Fact.objects.for_user(charlie).count() == before


def test_a_decision_about_anothers_fact_is_not_undone(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)
    brought(bob, packed(alice))
    action = ReviewAction.objects.for_user(bob).get(verb="edit")
    hers = Fact.objects.for_user(alice).get(value="Porto")
    ReviewAction.objects.filter(pk=action.pk).update(before=action.before | {str(hers.pk): {"status": "rejected"}})
    with pytest.raises(decisions.RefusedError):
        decisions.undo(action)
    hers.refresh_from_db()
    assert hers.status != "rejected"


def test_a_decision_whose_values_do_not_fit_is_refused(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)

    def exaggerate(told: Rows) -> None:
        for action in told["memory.reviewaction"]:
            for columns in action["before"].values():
                columns["status"] = "chosen"

    with pytest.raises(NotImportedError, match="has an invalid value"):
        brought(bob, made_up(packed(alice), "memory.reviewaction", exaggerate))


def in_a_ring(told: Rows) -> None:
    first, second = told["chat.message"][:2]
    first["parent"], second["parent"] = second["id"], first["id"]


def superseding_each_other(told: Rows) -> None:
    first, second = told["memory.fact"][:2]
    first["superseded_by"], second["superseded_by"] = second["id"], first["id"]


@pytest.mark.parametrize(("table", "change"), [("chat.message", in_a_ring), ("memory.fact", superseding_each_other)])
def test_chains_that_lead_back_to_themselves_are_refused(
    table: str, change: Callable[[Rows], None], alice: Any, bob: Any, charlie: Any
) -> None:
    fill(alice, charlie)
    with pytest.raises(NotImportedError, match=NOT_CONSISTENT):
        brought(bob, made_up(packed(alice), table, change))


def test_nobody_has_spent_less_than_nothing(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)

    def earn(told: Rows) -> None:
        for day in told["budget.usageday"]:
            day["cost"] = "-90000000"

    with pytest.raises(NotImportedError, match="has an invalid value"):
        brought(bob, made_up(packed(alice), "budget.usageday", earn))
    assert not UsageDay.objects.for_user(bob).exists()


@pytest.mark.parametrize(("limit", "most"), [("MAX_MEMBERS", 3), ("MAX_DIRECTORY_BYTES", 100)])
def test_a_zip_of_too_many_files_is_refused_before_they_are_listed(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for number in range(4):
            packed.writestr(f"{number}.json", b"")
    monkeypatch.setattr(safe_zip, limit, most)
    monkeypatch.setattr(zipfile, "ZipInfo", None)  # each takes half a kilobyte, and a gigabyte names 20 million

    with pytest.raises(NotImportedError, match="unpacks to more"):
        safe_zip.open_zip(file)
