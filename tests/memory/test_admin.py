"""Staff view memory in the admin, and decide there as on the review page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import User
from chat.models import Conversation
from memory.documents.revisions import save
from memory.models import Boundary, Document, Fact, LibrarianRun, ReviewAction, Revision
from memory.review.decisions import accept

type SignIn = Callable[[User], Client]

PAGES = ["fact", "document", "revision", "boundary", "librarianrun", "reviewaction"]


@pytest.fixture
def staff(charlie: User, sign_in: SignIn) -> Client:
    """Charlie, who has every permission."""
    charlie.is_superuser = True
    charlie.save()
    return sign_in(charlie)


@pytest.fixture
def everything(alice: User) -> dict[str, Any]:
    """One row of each kind, all Alice's."""
    fact = Fact.objects.create(user=alice, statement="The user keeps bees.", status=Fact.Status.PROPOSED)
    document = save(alice, "/profile/identity", "I am Alice.", started_from=0)
    conversation = Conversation.objects.create(user=alice)
    run = LibrarianRun.objects.create(
        user=alice,
        conversation=conversation,
        first_seq=1,
        last_seq=2,
        trigger="ended",
        state="failed",
        error="no model",
    )
    return {
        "fact": fact,
        "document": document,
        "revision": Revision.objects.get(),
        "boundary": Boundary.objects.create(user=alice, text="No talk of money."),
        "librarianrun": run,
        "reviewaction": accept(Fact.objects.create(user=alice, statement="Accepted."), by=alice),
    }


def act(staff: Client, page: str, action: str, *rows: Any) -> str:
    selected = {"action": action, "_selected_action": [row.pk for row in rows]}
    response = staff.post(f"/admin/memory/{page}/", selected, follow=True)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("page", PAGES)
def test_every_list_can_be_searched_and_every_row_opened(staff: Client, everything: dict[str, Any], page: str) -> None:
    assert staff.get(f"/admin/memory/{page}/?q=alice").status_code == 200
    assert staff.get(f"/admin/memory/{page}/{everything[page].pk}/change/").status_code == 200


def test_proposals_are_accepted_as_on_the_review_page(staff: Client, everything: dict[str, Any], charlie: User) -> None:
    page = act(staff, "fact", "accept_proposals", everything["fact"])

    fact = Fact.objects.get(pk=everything["fact"].pk)
    assert (fact.status, fact.reason) == ("active", "accepted by staff")
    assert ReviewAction.objects.latest("pk").by == charlie
    assert "1 accepted." in page


def test_what_no_longer_waits_is_named_with_the_reason(staff: Client, everything: dict[str, Any]) -> None:
    Fact.objects.filter(pk=everything["fact"].pk).update(status="rejected")

    page = act(staff, "fact", "accept_proposals", everything["fact"])

    assert "changed: it is now rejected" in page


def test_proposals_are_rejected_and_the_decision_undone(staff: Client, everything: dict[str, Any]) -> None:
    act(staff, "fact", "reject_facts", everything["fact"])
    assert Fact.objects.get(pk=everything["fact"].pk).status == "rejected"

    act(staff, "reviewaction", "undo", ReviewAction.objects.latest("pk"))
    assert Fact.objects.get(pk=everything["fact"].pk).status == "proposed"


def test_a_failed_run_is_started_again(staff: Client, everything: dict[str, Any]) -> None:
    act(staff, "librarianrun", "retry", everything["librarianrun"])

    run = LibrarianRun.objects.get()
    assert (run.state, run.error) == ("pending", "")


def test_what_has_a_history_cannot_be_changed_behind_it(staff: Client, everything: dict[str, Any]) -> None:
    fact, document = everything["fact"], everything["document"]

    staff.post(f"/admin/memory/fact/{fact.pk}/change/", {"statement": "Forged.", "status": "active", "importance": 0.9})
    staff.post(f"/admin/memory/document/{document.pk}/change/", {"text": "Forged."})

    changed = Fact.objects.get(pk=fact.pk)
    assert (changed.statement, changed.status, changed.importance) == ("The user keeps bees.", "proposed", 0.9)
    assert Document.objects.get(pk=document.pk).text == "I am Alice."


def test_who_may_only_look_may_not_decide(charlie: User, sign_in: SignIn, everything: dict[str, Any]) -> None:
    charlie.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = sign_in(charlie)

    act(client, "fact", "accept_proposals", everything["fact"])
    act(client, "reviewaction", "undo", everything["reviewaction"])
    act(client, "librarianrun", "retry", everything["librarianrun"])

    assert Fact.objects.get(pk=everything["fact"].pk).status == "proposed"
    assert ReviewAction.objects.get().undone_at is None
    assert LibrarianRun.objects.get().state == "failed"


@pytest.mark.parametrize("page", PAGES)
def test_who_is_not_staff_sees_nothing_of_it(bob: User, sign_in: SignIn, page: str) -> None:
    assert sign_in(bob).get(f"/admin/memory/{page}/").status_code == 302
