"""What staff may see and change of receipts, snapshots, prices and calibration."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from budget.counting import calibration
from budget.counting.estimate import TextClass
from budget.models import BudgetPlan, Calibration, Limit, Price, ProfileSnapshot, Receipt, UsageDay
from budget.receipts.profile_snapshots import Line, Reason, pin
from budget.spending.limits import Per, What, set_limit
from budget.spending.prices import price_for
from recall.llm.tokens import exact
from tests.budget.rows import answer_of, draft_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(alice: Any) -> list[Any]:
    """One row of each kind."""
    answer = answer_of(alice)
    receipt = draft_for(answer)
    receipt.save()
    snapshot = pin(alice, answer.conversation_id, [Line("fact:1", "The user likes tea.", 5)], Reason.NEW)
    learned = Calibration.objects.create(model="claude-opus-5", text_class="prose", ratio=1.3)
    price = Price.objects.get(model="claude-opus-5")
    plan = BudgetPlan.objects.create(user=alice, preset="small")
    usage = UsageDay.objects.create(user=alice, day=date(2026, 11, 22), model="claude-opus-5", turns=3)
    set_limit(alice, What.TURNS, Per.DAY, Decimal(5))
    return [receipt, snapshot, learned, price, plan, usage, Limit.objects.get()]


def address(row: Any, page: str = "change") -> str:
    name = type(row)._meta.model_name
    return f"/admin/budget/{name}/" + (f"{row.pk}/{page}/" if page else "")


def test_every_list_and_every_row_opens_and_can_be_searched(staff: Any, rows: list[Any]) -> None:
    for row in rows:
        assert staff.get(address(row, "")).status_code == 200
        assert staff.get(address(row, "") + "?q=alice").status_code == 200
        assert staff.get(address(row)).status_code == 200


def test_lists_print_costs_as_pages_do(staff: Any, rows: list[Any]) -> None:
    Receipt.objects.update(cost=Decimal("0.01312345"))
    UsageDay.objects.update(cost=Decimal("1204.50000000"))
    assert '<td class="field-shown_cost">$0.013</td>' in staff.get(address(rows[0], "")).content.decode()
    assert '<td class="field-shown_cost">$1,204.50</td>' in staff.get(address(rows[5], "")).content.decode()


def test_what_happened_cannot_be_rewritten(staff: Any, rows: list[Any]) -> None:
    for row in (*rows[:2], rows[5]):
        assert staff.post(address(row), {"turn": 99, "text": "other"}).status_code == 403
        assert staff.post(address(row, "delete"), {"post": "yes"}).status_code == 403
        assert staff.get(address(row, "") + "add/").status_code == 403
    assert Receipt.objects.get().turn == 1
    assert ProfileSnapshot.objects.get().text == "The user likes tea."


def test_an_edited_price_counts_at_once(staff: Any, rows: list[Any]) -> None:
    price_for("claude-opus-5", date(2026, 11, 21), 1)
    fields = {"model": "claude-opus-5", "valid_from": "2025-01-01", "from_input_tokens": 0, "input": "6"}
    fields |= {"output": "30", "write_5m": "7.5", "write_1h": "12", "read": "0.6"}
    assert staff.post(address(rows[3]), fields).status_code == 302
    edited = price_for("claude-opus-5", date(2026, 11, 21), 1)
    assert edited is not None
    assert edited.input == Decimal(6)


def test_a_ratio_that_went_astray_is_deleted_and_forgotten_at_once(staff: Any, rows: list[Any]) -> None:
    name = "claude-opus-5"
    Calibration.objects.update(model=name if exact() else name + calibration.ESTIMATED)
    assert calibration.ratios(name) == {TextClass.PROSE: 1.3}
    assert staff.post(address(rows[2], "delete"), {"post": "yes"}).status_code == 302
    assert calibration.ratios(name) == {}


def test_a_limit_that_staff_set_is_marked_as_theirs_and_set_once(staff: Any, alice: Any) -> None:
    fields = {"user": alice.pk, "what": "tokens", "per": "month", "amount": "1000"}
    assert staff.post("/admin/budget/limit/add/", fields).status_code == 302
    assert Limit.objects.get().set_by_staff
    again = staff.post("/admin/budget/limit/add/", fields | {"amount": "5"})
    assert "Staff already set this limit" in again.content.decode()
    assert "Enter a whole number of tokens." in (
        staff.post("/admin/budget/limit/add/", fields | {"per": "day", "amount": "1.5"}).content.decode()
    )
    limit = Limit.objects.get()
    assert staff.post(address(limit), fields | {"amount": "2000"}).status_code == 302
    assert Limit.objects.get().amount == 2_000


def test_the_limits_people_set_themselves_are_theirs_to_change(staff: Any, rows: list[Any]) -> None:
    own = rows[6]
    assert staff.post(address(own), {"amount": "1"}).status_code == 403
    assert staff.post(address(own, "delete"), {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [own.pk], "post": "yes"}
    staff.post(address(own, ""), chosen)
    assert Limit.objects.get().amount == 5


def test_a_plan_that_cannot_hold_is_refused_in_the_words_of_the_persons_page(staff: Any, rows: list[Any]) -> None:
    fields = {"user": rows[4].user_id, "preset": "standard", "total": "", "output_reserve": "", "ceilings": "{}"}
    assert staff.post(address(rows[4]), fields).status_code == 302
    refused = staff.post(address(rows[4]), fields | {"ceilings": '{"history": 100}'})
    assert "Earlier messages: at least 500 tokens are needed, not 100." in refused.content.decode()
    assert "No plan named “huge”" in staff.post(address(rows[4]), fields | {"preset": "huge"}).content.decode()


def test_who_is_not_staff_sees_none_of_it(alice: Any, sign_in: Any, rows: list[Any]) -> None:
    client = sign_in(alice)
    for row in rows:
        assert client.get(address(row)).status_code == 302
