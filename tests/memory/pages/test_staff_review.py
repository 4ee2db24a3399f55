"""The review queue of all people, for staff: the same decisions as on the review page, by who may take them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import User
from memory.facts.contradiction import CHOICES
from memory.models import Fact, ReviewAction
from memory.review.decisions import reject
from memory.views import staff_review
from tests.memory.pages.test_review import QUOTE, propose, say, status_of
from tests.memory.review.test_decisions import home

type SignIn = Callable[[User], Client]

QUEUE, DECIDE = "/admin/memory/fact/queue/", "/admin/memory/fact/queue/decide/"


@pytest.fixture
def staff(charlie: User, sign_in: SignIn) -> Client:
    """Charlie, who may look at facts and decide on them, and no more."""
    charlie.user_permissions.set(Permission.objects.filter(codename__in=["view_fact", "change_fact"]))
    return sign_in(charlie)


def said(client: Client, **fields: Any) -> str:
    response = client.post(DECIDE, fields, follow=True)
    assert response.status_code == 200
    return response.content.decode()


# What it shows ---------------------------------------------------------------------------------------------------


def test_proposals_of_all_people_stand_with_quote_and_current_memory(alice: User, bob: User, staff: Client) -> None:
    propose(alice, "Of Alice.", message=say(alice, title="Cooking"))
    home(bob, "Porto", status=Fact.Status.ACTIVE)
    home(bob, "Lisbon")

    page = staff.get(QUEUE).content.decode()

    assert "alice@example.org: Cooking" in page
    assert f"<mark>{QUOTE}</mark>" in page
    assert "bob@example.org: not from a conversation" in page
    assert "lives in Porto." in page
    assert "lives in Lisbon." in page
    assert "Not a contradiction" in page


def test_what_a_choice_means_is_read_and_not_only_shown_at_the_pointer(alice: User, staff: Client) -> None:
    home(alice, "Porto", status=Fact.Status.ACTIVE)
    fact = home(alice, "Lisbon")

    page = staff.get(QUEUE).content.decode()

    content = page[page.index('<article class="review-row"') : page.index("</article>")]
    assert "title=" not in content
    for choice in CHOICES:
        assert f'aria-describedby="means-{fact.pk}-{choice.key}"' in content
        assert f'<li id="means-{fact.pk}-{choice.key}"><b>{choice.label}:</b> {choice.means}</li>' in content


def test_the_queue_is_found_from_the_list_of_facts(staff: Client) -> None:
    assert QUEUE in staff.get("/admin/memory/fact/").content.decode()


def test_it_is_narrowed_to_a_person_and_a_kind(alice: User, bob: User, staff: Client) -> None:
    propose(alice, "Of Alice, a person.")
    propose(alice, "Of Alice, a place.", kind="place")
    propose(bob, "Of Bob.")

    page = staff.get(QUEUE, {"user": "ALICE@example.org", "kind": "place"}).content.decode()

    assert "Of Alice, a place." in page
    assert "Of Alice, a person." not in page
    assert "Of Bob." not in page


def test_pages_follow_one_another_without_a_count_of_all(
    alice: User, staff: Client, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    monkeypatch.setattr(staff_review, "PAGE_SIZE", 30)
    message = say(alice)
    facts = [propose(alice, f"Proposal {n:03}.", message=message) for n in range(50)]

    staff.get("/admin/")  # from here on the session is known as one of this person's

    with django_assert_max_num_queries(12) as asked:
        first = staff.get(QUEUE).content.decode()
    assert not any("COUNT(" in query["sql"] for query in asked.captured_queries)
    assert f"after={facts[29].pk}" in first
    second = staff.get(QUEUE, {"after": facts[29].pk}).content.decode()

    assert [f"Proposal {n:03}." in first for n in range(50)] == [True] * 30 + [False] * 20
    assert [f"Proposal {n:03}." in second for n in range(50)] == [False] * 30 + [True] * 20
    assert "Next page" not in second


def test_hostile_text_is_shown_as_text(alice: User, staff: Client) -> None:
    attack = "<script>alert(1)</script>"
    propose(alice, attack, message=say(alice, f"{attack} {QUOTE}", title=attack), reason=attack)

    assert "<script>alert" not in staff.get(QUEUE).content.decode()


# Deciding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verb", "state"), [("accept", "active"), ("reject", "rejected"), ("edit", "active")])
def test_one_is_decided_as_on_the_review_page(alice: User, charlie: User, staff: Client, verb: str, state: str) -> None:
    fact = propose(alice)

    page = said(staff, one=f"{verb}:{fact.pk}", **{f"statement-{fact.pk}": "In better words."})

    assert f"fact {fact.pk}." in page
    assert status_of(fact) == state
    action = ReviewAction.objects.get()
    assert (action.by, action.user, action.verb) == (charlie, alice, verb)


@pytest.mark.parametrize("verb", ["keep_both", "unrelated"])
def test_a_contradiction_is_settled(alice: User, staff: Client, verb: str) -> None:
    pair = [home(alice, "Porto", status=Fact.Status.ACTIVE), home(alice, "Lisbon")]

    said(staff, one=f"{verb}:{pair[1].pk}")

    assert [status_of(fact) for fact in pair] == ["active", "active"]


def test_the_selected_of_several_people_are_decided_and_undone_as_one(alice: User, bob: User, staff: Client) -> None:
    facts = [propose(alice), propose(bob)]

    assert "Rejected: 2." in said(staff, verb="reject", fact=[fact.pk for fact in facts])
    assert [status_of(fact) for fact in facts] == ["rejected", "rejected"]

    assert "Undone: 2." in said(staff, undo=ReviewAction.objects.latest("pk").pk)
    assert [status_of(fact) for fact in facts] == ["proposed", "proposed"]


def test_facts_of_one_person_are_merged_and_of_two_are_not(alice: User, bob: User, staff: Client) -> None:
    facts = [propose(alice, "One."), propose(alice, "Two."), propose(bob, "Three.")]

    assert "different users" in said(staff, verb="merge", fact=[fact.pk for fact in facts])
    page = said(staff, verb="merge", fact=[fact.pk for fact in facts[:2]], merged="Both.")

    assert f"into fact {facts[0].pk}." in page
    assert Fact.objects.get(pk=facts[0].pk).statement == "Both."
    assert [status_of(fact) for fact in facts] == ["active", "superseded", "proposed"]


def test_what_was_decided_meanwhile_gets_a_sentence(alice: User, staff: Client) -> None:
    fact = propose(alice)
    reject(fact, by=alice)

    assert "changed: it is now rejected" in said(staff, one=f"accept:{fact.pk}")


@pytest.mark.parametrize(
    "fields",
    [{}, {"verb": "accept"}, {"verb": "burn", "fact": [1]}, {"one": "burn:1"}, {"one": "accept:x"}, {"undo": "x"},
     {"verb": "merge"}],
)  # fmt: skip
def test_what_is_no_decision_gets_a_sentence(staff: Client, fields: dict[str, Any]) -> None:
    assert 'class="warning"' in said(staff, **fields)
    assert not ReviewAction.objects.exists()


def test_where_one_was_in_the_list_one_comes_back_to(alice: User, staff: Client) -> None:
    fact = propose(alice)

    response = staff.post(DECIDE, {"one": f"accept:{fact.pk}", "back": "kind=place&after=3"})

    assert response["Location"] == f"{QUEUE}?kind=place&after=3"


# Who may ---------------------------------------------------------------------------------------------------------


def test_who_may_only_look_may_not_decide(alice: User, charlie: User, sign_in: SignIn) -> None:
    charlie.user_permissions.set(Permission.objects.filter(codename="view_fact"))
    fact, client = propose(alice, "Of Alice."), sign_in(charlie)

    page = client.get(QUEUE).content.decode()
    assert "Of Alice." in page
    assert "<button name=" not in page
    assert client.post(DECIDE, {"one": f"accept:{fact.pk}"}).status_code == 403
    assert status_of(fact) == "proposed"


def test_staff_without_the_right_see_nothing(alice: User, charlie: User, sign_in: SignIn) -> None:
    propose(alice, "Of Alice.")

    response = sign_in(charlie).get(QUEUE)

    assert response.status_code == 403
    assert "Of Alice." not in response.content.decode()


def test_who_is_not_staff_is_sent_away(alice: User, sign_in: SignIn) -> None:
    fact = propose(alice)
    client = sign_in(alice)

    assert client.get(QUEUE).status_code == 302
    assert client.post(DECIDE, {"one": f"accept:{fact.pk}"}).status_code == 302
    assert status_of(fact) == "proposed"


def test_a_link_decides_nothing(staff: Client) -> None:
    assert staff.get(DECIDE).status_code == 405
