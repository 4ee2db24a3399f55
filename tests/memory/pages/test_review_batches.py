"""The review page for several at once, by plain forms and by htmx: bulk, merging, rules, decisions to be undone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from memory.librarian.decision import Rule
from memory.librarian.policies import rules_of
from memory.models import Fact, ReviewAction
from memory.review.decisions import accept, reject
from tests.memory.pages.test_review import HTMX, propose, say, status_of
from tests.memory.review.test_decisions import home
from tests.memory.review.test_decisions import propose as embedded

type SignIn = Callable[[User], Client]

TOGETHER, MERGE = "/memory/review/together", "/memory/review/merge"


@pytest.fixture
def many(alice: User) -> list[Fact]:
    message = say(alice)
    return [propose(alice, f"Proposal {number}.", message=message) for number in range(4)]


def ids(facts: list[Fact]) -> list[int]:
    return [fact.pk for fact in facts]


def states(facts: list[Fact]) -> list[str]:
    return [status_of(fact) for fact in facts]


# Bulk ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "state", "said"), [("accept", "active", "Accepted: 3."), ("reject", "rejected", "Rejected: 3.")]
)
def test_the_selected_ones_are_decided_by_a_plain_form(
    alice: User, sign_in: SignIn, many: list[Fact], verb: str, state: str, said: str
) -> None:
    page = sign_in(alice).post(TOGETHER, {"verb": verb, "fact": ids(many[:3])}, follow=True).content.decode()

    assert states(many) == [state] * 3 + ["proposed"]
    assert said in page
    assert "Undo all" in page


def test_a_whole_conversation_is_decided_by_one_button(alice: User, sign_in: SignIn, many: list[Fact]) -> None:
    propose(alice, "Of another conversation.", message=say(alice, title="Other"))

    page = sign_in(alice).get("/memory/review").content.decode()

    assert "Accept all <span data-count>4</span>" in page
    assert "Accept all <span data-count>1<" not in page
    assert all(f'<input type="hidden" name="fact" value="{pk}">' in page for pk in ids(many))


def test_with_htmx_the_queue_comes_back_with_undo_for_all(alice: User, sign_in: SignIn, many: list[Fact]) -> None:
    page = sign_in(alice).post(TOGETHER, {"verb": "reject", "fact": ids(many[:3])}, headers=HTMX).content.decode()

    assert "<html" not in page
    assert 'data-announce="Rejected: 3."' in page
    assert page.count("data-fact ") == 1
    assert page.count('hx-swap-oob="true"') == 3
    action = ReviewAction.objects.order_by("pk").first()
    assert action is not None
    page = sign_in(alice).post(f"/memory/review/actions/{action.pk}/undo", headers=HTMX).content.decode()
    assert 'data-announce="Undone: 3."' in page
    assert states(many) == ["proposed"] * 4


def test_what_was_decided_or_forgotten_elsewhere_is_told_and_the_rest_is_done(
    alice: User, sign_in: SignIn, many: list[Fact]
) -> None:
    chosen = ids(many)
    reject(many[0], by=alice)
    Fact.objects.filter(pk=many[1].pk).delete()

    page = sign_in(alice).post(TOGETHER, {"verb": "accept", "fact": chosen}, headers=HTMX).content.decode()

    assert "Accepted: 2." in page
    assert "Skipped: 1. This fact has changed: it is now rejected." in page
    assert "Skipped: 1. This fact no longer exists." in page
    assert states(many[2:]) == ["active", "active"]


@pytest.mark.parametrize("fields", [{"verb": "accept"}, {"verb": "burn", "fact": [1]}, {"verb": "accept", "fact": "x"}])
def test_a_form_that_is_none_changes_nothing(
    alice: User, sign_in: SignIn, many: list[Fact], fields: dict[str, Any]
) -> None:
    assert sign_in(alice).post(TOGETHER, fields, headers=HTMX).status_code == 422
    assert states(many) == ["proposed"] * 4


# Merging ---------------------------------------------------------------------------------------------------------


def test_merging_goes_by_a_page_that_asks_for_the_wording(alice: User, sign_in: SignIn, many: list[Fact]) -> None:
    client = sign_in(alice)

    page = client.post(TOGETHER, {"verb": "merge", "fact": ids(many[:2])}, follow=True).content.decode()
    assert "Keep this wording" in page
    assert "Proposal 0." in page
    assert "Proposal 2." not in page

    typed = {"fact": ids(many[:2]), "into": many[1].pk, "statement": "Both of   them."}
    page = client.post(MERGE, typed, follow=True).content.decode()
    assert "Merged: Both of them." in page
    assert states(many) == ["superseded", "active", "proposed", "proposed"]


def test_known_facts_that_come_close_are_offered_to_be_taken_along(alice: User, bob: User, sign_in: SignIn) -> None:
    known = embedded(alice, "The user keeps honey bees.", status=Fact.Status.ACTIVE)
    embedded(alice, "The user drives a lorry to Spain.", status=Fact.Status.ACTIVE)
    embedded(bob, "The user keeps bees.", status=Fact.Status.ACTIVE)
    waiting = embedded(alice, "The user keeps bees.")

    page = sign_in(alice).get(MERGE, {"fact": waiting.pk}).content.decode()

    assert f'<input type="checkbox" name="fact" value="{known.pk}"' in page
    assert page.count('type="checkbox"') == 1

    sign_in(alice).post(MERGE, {"fact": [waiting.pk, known.pk], "into": known.pk})
    assert states([waiting, known]) == ["superseded", "active"]


def test_with_htmx_the_form_comes_into_its_panel_and_then_the_queue(
    alice: User, sign_in: SignIn, many: list[Fact]
) -> None:
    client = sign_in(alice)

    asked = client.post(TOGETHER, {"verb": "merge", "fact": ids(many[:2])}, headers=HTMX)
    assert (asked["HX-Retarget"], asked["HX-Reswap"]) == ("#merge-panel", "innerHTML")
    assert "<html" not in asked.content.decode()

    merged = client.post(MERGE, {"fact": ids(many[:2]), "into": many[0].pk}, headers=HTMX)
    assert 'data-announce="Merged: Proposal 0."' in merged.content.decode()


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_what_cannot_be_merged_is_handed_back_with_what_was_typed(
    alice: User, sign_in: SignIn, many: list[Fact], headers: dict[str, str]
) -> None:
    reject(many[1], by=alice)

    typed = {"fact": ids(many[:2]), "into": many[0].pk, "statement": "My own words."}
    response = sign_in(alice).post(MERGE, typed, headers=headers)

    page = response.content.decode()
    assert response.status_code == 409
    assert "changed: it is now rejected" in page
    assert "My own words." in page
    assert states(many[:2]) == ["proposed", "rejected"]


# Contradictions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("address", "states_after"), [
    ("accept", ["superseded", "active"]), ("keep-both", ["active", "active"]), ("unrelated", ["active", "active"]),
])  # fmt: skip
def test_the_three_choices_stand_on_the_page_and_work(
    alice: User, sign_in: SignIn, address: str, states_after: list[str]
) -> None:
    pair = [home(alice, "Porto", status=Fact.Status.ACTIVE), home(alice, "Lisbon")]
    client = sign_in(alice)
    page = client.get("/memory/review").content.decode()
    assert all(label in page for label in ("Replace", "Keep both", "Not a contradiction"))
    assert f"/memory/review/{pair[1].pk}/{address}" in page

    client.post(f"/memory/review/{pair[1].pk}/{address}", headers=HTMX)

    assert states(pair) == states_after


def test_without_a_contradiction_there_is_nothing_to_choose(alice: User, sign_in: SignIn, many: list[Fact]) -> None:
    page = sign_in(alice).get("/memory/review").content.decode()
    assert "/keep-both" not in page

    response = sign_in(alice).post(f"/memory/review/{many[0].pk}/keep-both", headers=HTMX)
    assert response.status_code == 409
    assert "Nothing that is known contradicts this any more" in response.content.decode()


def test_words_typed_for_what_was_decided_elsewhere_are_not_lost(
    alice: User, sign_in: SignIn, many: list[Fact]
) -> None:
    accept(many[0], by=alice)

    typed = {"statement": "What I had worded so well."}
    page = sign_in(alice).post(f"/memory/review/{many[0].pk}/edit", typed, headers=HTMX).content.decode()

    assert "changed: it is now active" in page
    assert "What I had worded so well." in page


# Rules from a proposal -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_never_for_this_kind_offers_to_reject_those_that_wait(
    alice: User, sign_in: SignIn, headers: dict[str, str]
) -> None:
    facts = [propose(alice, f"A place {n}.", kind="place", reason="not certain enough") for n in range(3)]
    other = propose(alice, "Another kind.", kind="goal", reason="not certain enough")
    client = sign_in(alice)

    page = client.post(f"/memory/review/{facts[0].pk}/rule", {"rule": "never"}, headers=headers).content.decode()

    assert rules_of(alice)["place"] == Rule.NEVER
    assert states(facts) == ["proposed"] * 3, "nothing is rejected unasked"
    assert "Reject all 3 waiting" in page

    client.post(TOGETHER, {"verb": "reject", "fact": ids(facts)}, headers=headers)
    assert states([*facts, other]) == ["rejected"] * 3 + ["proposed"]
    client.post(f"/memory/review/actions/{ReviewAction.objects.latest('pk').pk}/undo", headers=headers)
    assert states(facts) == ["proposed"] * 3


def test_always_is_about_why_it_waits(alice: User, sign_in: SignIn) -> None:
    fact = propose(alice, kind="person", reason="about another person")

    sign_in(alice).post(f"/memory/review/{fact.pk}/rule", {"rule": "automatic"}, headers=HTMX)

    rules = rules_of(alice)
    assert (rules["third_parties"], rules["person"]) == (Rule.AUTOMATIC, Rule.AUTOMATIC)


def test_a_proposal_decided_meanwhile_sets_no_rule(alice: User, sign_in: SignIn, many: list[Fact]) -> None:
    reject(many[0], by=alice)

    assert sign_in(alice).post(f"/memory/review/{many[0].pk}/rule", {"rule": "never"}, headers=HTMX).status_code == 409
    assert rules_of(alice)["person"] == Rule.AUTOMATIC


# Decisions -------------------------------------------------------------------------------------------------------


def test_decisions_of_thirty_days_are_listed_and_undone(alice: User, sign_in: SignIn, many: list[Fact]) -> None:
    client = sign_in(alice)
    client.post(TOGETHER, {"verb": "reject", "fact": ids(many[:2])})
    old = accept(many[3], by=alice)
    ReviewAction.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=31))

    page = client.get("/memory/history").content.decode()
    assert "2 facts at once" in page
    assert f"/memory/review/actions/{old.pk}/undo" not in page

    first = ReviewAction.objects.filter(batch__isnull=False).latest("pk")
    response = client.post(f"/memory/review/actions/{first.pk}/undo", {"page": "history"}, follow=True)
    assert response.redirect_chain == [("/memory/history", 302)]
    assert states(many[:2]) == ["proposed"] * 2

    refused = client.post(f"/memory/review/actions/{old.pk}/undo", {"page": "history"}, follow=True)
    assert "more than 30 days ago" in refused.content.decode()
    assert states(many[3:]) == ["active"]


def test_what_was_kept_unasked_is_listed_and_rejected(alice: User, sign_in: SignIn) -> None:
    kept = propose(alice, "Kept unasked.", status="active", extracted_by="rules/1", reason="you said so")
    accept(propose(alice, "Accepted by hand.", extracted_by="rules/1"), by=alice)
    client = sign_in(alice)

    page = client.get("/memory/history").content.decode()
    assert page.count(f"/memory/review/{kept.pk}/reject") == 1
    assert page.count("/reject") == 1

    client.post(f"/memory/review/{kept.pk}/reject", {"page": "history"})
    assert status_of(kept) == "rejected"
