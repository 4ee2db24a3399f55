"""Staff access to another user's memory is logged first, and the user can read the log."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin import autodiscover, site
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from accounts.models import AccessLog, User
from accounts.staff.access_log import log_access, log_accesses
from accounts.staff.logged_admin import LoggedAdmin
from budget.models import BudgetPlan
from memory.models import Fact, ReviewAction
from memory.review.decisions import accept
from tests.test_isolation import SECRET, Hers, hers

__all__ = ["hers"]  # the fixture: one row of everything Alice owns

type SignIn = Callable[[User], Client]

OURS = {"accounts", "memory", "chat", "budget"}
autodiscover()
OWNED = [
    model
    for model in site._registry
    if model._meta.app_label in OURS and hasattr(model, "user_id") and model is not AccessLog
]

NEVER_EMPTY = {
    "Fact", "Document", "Revision", "Message", "Conversation", "Segment", "Receipt", "ProfileSnapshot", "Boundary",
    "ReviewAction", "LibrarianRun",
}  # fmt: skip
"""Models whose admin the test above must not skip for lack of a row."""


def address(model: Any, page: str, *arguments: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


def lines() -> list[str]:
    return list(AccessLog.objects.order_by("pk").values_list("what", flat=True))


# Every page of the admin -----------------------------------------------------------------------------------------


def test_every_admin_of_rows_that_belong_to_people_writes_looks_down() -> None:
    assert {model.__name__ for model in OWNED} >= NEVER_EMPTY
    for model in OWNED:
        assert isinstance(site._registry[model], LoggedAdmin), model.__name__


@pytest.mark.parametrize("model", OWNED, ids=lambda model: model.__name__)
def test_no_page_shows_a_row_of_hers_without_a_line(
    model: Any, hers: Hers, alice: User, charlie: User, staff: Client
) -> None:
    row = model._default_manager.filter(user=alice).first()
    if row is None:
        assert model.__name__ not in NEVER_EMPTY
        return
    pages = [address(model, "changelist"), *(address(model, page, row.pk) for page in ("change", "history", "delete"))]
    for page in pages:
        AccessLog.objects.all().delete()
        response = staff.get(page)
        shows = response.status_code == 200
        assert shows or response.status_code == 403, page
        assert list(AccessLog.objects.values_list("reader", "user")) == [(charlie.pk, alice.pk)] * shows, page


def test_the_page_that_asks_before_many_are_deleted_is_a_look(hers: Hers, staff: Client) -> None:
    plan = BudgetPlan.objects.create(user=hers.fact.user, preset="small")

    staff.post(address(BudgetPlan, "changelist"), {"action": "delete_selected", "_selected_action": [plan.pk]})

    assert lines() == ["a list of budget plans"]


def test_the_queue_of_all_people_is_a_look_at_each_of_them(hers: Hers, alice: User, bob: User, staff: Client) -> None:
    Fact.objects.create(user=bob, statement="The user keeps bees.")

    staff.get(reverse("admin:memory_fact_queue"))

    assert set(AccessLog.objects.values_list("user", "what")) == {
        (alice.pk, "proposals to review"),
        (bob.pk, "proposals to review"),
    }


def test_a_list_is_one_line_a_person_however_many_rows_it_shows(alice: User, bob: User, staff: Client) -> None:
    for owner in (alice, alice, alice, bob):
        Fact.objects.create(user=owner, statement="The user keeps bees.")

    staff.get(address(Fact, "changelist"))

    assert sorted(AccessLog.objects.values_list("user", flat=True)) == [alice.pk, bob.pk]


def test_suggestions_while_typing_show_no_memories(hers: Hers, staff: Client) -> None:
    asked = {"app_label": "memory", "model_name": "reviewaction", "field_name": "fact", "term": "xyzzy"}

    response = staff.get(reverse("admin:autocomplete"), asked)

    assert response.status_code == 403
    assert SECRET not in response.content.decode()


def test_the_page_that_deletes_an_account_lists_none_of_its_texts(hers: Hers, alice: User, staff: Client) -> None:
    page = staff.get(reverse("admin:accounts_user_delete", args=[alice.pk]))

    assert page.status_code == 200
    assert SECRET not in page.content.decode()


def test_what_staff_changed_is_logged_by_number(hers: Hers, staff: Client) -> None:
    staff.post(address(Fact, "change", hers.fact.pk), {"importance": 0.9, "tags": ""})
    plan = BudgetPlan.objects.create(user=hers.fact.user, preset="small")
    staff.post(address(BudgetPlan, "delete", plan.pk), {"post": "yes"})

    assert {entry.object_repr for entry in LogEntry.objects.all()} == {f"fact {hers.fact.pk}", f"budget plan {plan.pk}"}


def test_no_answer_to_a_save_or_a_refused_action_shows_a_text(hers: Hers, staff: Client) -> None:
    Fact.objects.filter(pk=hers.fact.pk).update(status="active")
    sent: list[tuple[str, dict[str, Any]]] = [
        (address(Fact, "changelist"), {"action": "accept_proposals", "_selected_action": [hers.fact.pk]}),
        (address(ReviewAction, "changelist"), {"action": "undo", "_selected_action": [hers.action.pk]}),
        (address(Fact, "change", hers.fact.pk), {"importance": 0.9, "tags": ""}),
        (address(Fact, "change", hers.fact.pk), {"importance": 0.9, "tags": "", "_popup": 1}),
    ]
    for page, fields in sent:
        assert SECRET not in staff.post(page, fields).content.decode(), page
    shown = staff.get(reverse("admin:index")).content.decode()  # a page of no user's rows shows the messages

    assert SECRET not in shown
    assert f"Fact {hers.fact.pk}: This fact has changed" in shown
    assert f"Fact {hers.action.fact_id}: This fact has changed since" in shown
    assert f">{hers.fact.pk}</a>” was changed successfully" in shown


def test_no_line_holds_a_text(hers: Hers, staff: Client) -> None:
    for model in OWNED:
        staff.get(address(model, "changelist"))

    assert lines()
    assert not any(SECRET in line for line in lines())


# What is no look at another's ------------------------------------------------------------------------------------


def test_looking_at_ones_own_is_no_line(charlie: User, staff: Client) -> None:
    Fact.objects.create(user=charlie, statement="The user keeps bees.")

    staff.get(address(Fact, "changelist"))

    assert lines() == []


def test_what_belongs_to_nobody_is_no_line(charlie: User) -> None:
    log_access(charlie, None, "boundary 1")
    assert lines() == []


def test_a_page_that_is_refused_is_no_line(hers: Hers, charlie: User, sign_in: SignIn) -> None:
    assert sign_in(charlie).get(address(Fact, "change", hers.fact.pk)).status_code == 403
    assert lines() == []


def test_where_no_line_can_be_written_nothing_is_shown(
    hers: Hers, staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **named: Any) -> None:
        raise OSError

    monkeypatch.setattr(AccessLog.objects, "bulk_create", fail)
    staff.raise_request_exception = False

    response = staff.get(address(Fact, "change", hers.fact.pk))

    assert response.status_code == 500
    assert SECRET not in response.content.decode()


# Shown -----------------------------------------------------------------------------------------------------------


def test_a_person_reads_who_looked_at_what(alice: User, bob: User, charlie: User, sign_in: SignIn) -> None:
    log_accesses(charlie, [alice.pk], "fact 12")
    log_accesses(charlie, [bob.pk], "fact 13")

    page = sign_in(alice).get(reverse("memory:access_log")).content.decode()

    assert charlie.email in page
    assert "fact 12" in page
    assert "fact 13" not in page


def test_a_reader_whose_account_is_gone_is_still_a_line(alice: User, charlie: User, sign_in: SignIn) -> None:
    log_access(charlie, alice.pk, "fact 12")
    charlie.delete()

    assert "a deleted account" in sign_in(alice).get(reverse("memory:access_log")).content.decode()


def test_the_log_is_read_in_the_admin_and_written_by_nobody(alice: User, charlie: User, staff: Client) -> None:
    log_access(charlie, alice.pk, "fact 12")
    line = AccessLog.objects.get()

    assert "fact 12" in staff.get(address(AccessLog, "changelist")).content.decode()
    for page in ("add", "delete"):
        assert staff.get(address(AccessLog, page, *([line.pk] if page == "delete" else []))).status_code == 403
    staff.post(address(AccessLog, "change", line.pk), {"what": "nothing"})
    assert AccessLog.objects.get().what == "fact 12"


def test_a_decision_of_staff_is_told_as_theirs(alice: User, charlie: User, sign_in: SignIn) -> None:
    accept(Fact.objects.create(user=alice, statement="The user keeps bees."), by=charlie)

    assert "by staff" in sign_in(alice).get(reverse("memory:history")).content.decode()
