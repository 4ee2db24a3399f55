"""The review page: what waits and why, decided by plain forms or in place, by nobody but its owner."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from chat.models import Conversation, Message
from memory.librarian.decision import Reason
from memory.models import Fact, LibrarianRun, ReviewAction
from memory.review.decisions import accept, reject, undo

type SignIn = Callable[[User], Client]

SAID = "I had a long day. My sister Mary lives in Lisbon and I'm allergic to peanuts. What shall I cook?"
QUOTE = "My sister Mary lives in Lisbon"
HTMX = {"HX-Request": "true"}


def say(user: User, text: str = SAID, title: str = "Cooking") -> Message:
    conversation = Conversation.objects.create(user=user, title=title)
    message: Message = Message.objects.create(
        user=user, conversation=conversation, seq=1, turn=1, role="user", event_type="user_message", text=text
    )
    return message


def propose(user: User, statement: str = "The user's sister Mary lives in Lisbon.", **fields: Any) -> Fact:
    fields = {"kind": "person", "reason": "about another person", "confidence": 0.9, "quote": QUOTE, **fields}
    fact: Fact = Fact.objects.create(user=user, statement=statement, **fields)
    return fact


def status_of(fact: Fact) -> str:
    status: str = Fact.objects.get(pk=fact.pk).status
    return status


# What it shows ---------------------------------------------------------------------------------------------------


def test_a_proposal_stands_with_its_words_where_they_were_said(alice: User, sign_in: SignIn) -> None:
    message = say(alice)
    propose(alice, message=message)

    page = sign_in(alice).get("/memory/review").content.decode()

    assert "Your sister Mary lives in Lisbon." in page
    assert f'I had a long day. <mark class="mark">{QUOTE}</mark> and I&#x27;m allergic to peanuts.' in page
    assert f'href="{reverse("message", args=[message.pk])}"' in page
    assert "Cooking" in page
    assert "Recall asks first because this is about someone else." in page
    assert "Recall is " not in page, "it would ask however sure it is"


def test_a_proposal_that_is_fairly_sure_is_not_called_unsure(alice: User, sign_in: SignIn) -> None:
    propose(alice, reason=Reason.UNSURE, confidence=0.7)
    page = sign_in(alice).get("/memory/review").content.decode()
    assert "Recall is fairly sure." in page
    assert "not sure enough to save it without asking" in page


def test_keys_are_shown_beside_something_to_review_only(alice: User, sign_in: SignIn) -> None:
    client = sign_in(alice)
    empty = client.get("/memory/review").content.decode()
    propose(alice)

    assert 'id="keys"' not in empty
    assert 'id="keys"' in client.get("/memory/review").content.decode()


def test_proposals_stand_below_the_conversation_they_come_from(alice: User, sign_in: SignIn) -> None:
    first, second = say(alice, title="First talk"), say(alice, title="Second talk")
    propose(alice, "From the first.", message=first)
    propose(alice, "From the second.", message=second)
    propose(alice, "From nowhere.")

    page = sign_in(alice).get("/memory/review").content.decode()

    marks = [
        "Second talk",
        "From the second.",
        "First talk",
        "From the first.",
        "Not from a conversation",
        "From nowhere.",
    ]
    places = [page.index(mark) for mark in marks]
    assert places == sorted(places)


def test_what_accepting_would_supersede_stands_beside_it(alice: User, sign_in: SignIn) -> None:
    propose(alice, "The user lives in Porto.", kind="biography", key="user/home", status=Fact.Status.ACTIVE)
    propose(alice, "The user lives in Lisbon.", kind="biography", key="user/home")

    page = sign_in(alice).get("/memory/review").content.decode()

    assert "<p>You live in Porto.</p>" in page
    removed = '<del class="diff-del"><span class="visually-hidden">removed: </span>Porto.</del>'
    added = '<ins class="diff-ins"><span class="visually-hidden">added: </span>Lisbon.</ins>'
    assert f"You live in {removed}{added}" in page


def test_an_empty_queue_waits_for_what_is_being_read(alice: User, sign_in: SignIn) -> None:
    conversation = Conversation.objects.create(user=alice)
    run = LibrarianRun.objects.create(user=alice, conversation=conversation, first_seq=1, last_seq=2, trigger="asked")
    client = sign_in(alice)

    page = client.get("/memory/review").content.decode()

    assert "Recall is reading a conversation…" in page
    assert "You're all caught up" not in page
    assert client.get("/memory/review", headers=HTMX).status_code == 204
    LibrarianRun.objects.filter(pk=run.pk).update(state=LibrarianRun.State.DONE)
    assert client.get("/memory/review", headers=HTMX).headers["HX-Refresh"] == "true"
    assert "You're all caught up" in client.get("/memory/review").content.decode()


def test_an_empty_queue_says_what_to_do(alice: User, sign_in: SignIn) -> None:
    page = sign_in(alice).get("/memory/review").content.decode()

    assert "You're all caught up" in page
    assert "Save memories now" in page


def test_hostile_text_is_shown_as_text(alice: User, sign_in: SignIn) -> None:
    attack = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    message = say(alice, f"{attack} {QUOTE}", title=attack)
    propose(alice, attack, message=message, reason=attack, key="user/home", value=attack)

    page = sign_in(alice).get("/memory/review").content.decode()

    assert "<script>alert" not in page
    assert "<img" not in page


def test_nothing_is_inline_that_the_content_security_policy_forbids(alice: User, sign_in: SignIn) -> None:
    propose(alice, message=say(alice))

    page = sign_in(alice).get("/memory/review").content.decode()

    assert "<script>" not in page
    assert " style=" not in page
    assert " onclick=" not in page
    assert "hx-on" not in page


def test_a_long_queue_takes_as_many_queries_as_a_short_one(
    alice: User, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    for number in range(50):
        known = propose(alice, f"Known {number}.", key=f"key {number}", status=Fact.Status.ACTIVE)
        propose(alice, f"Proposal {number}.", message=say(alice), key=known.key)
        reject(propose(alice, f"Rejected {number}."), by=alice)

    client = sign_in(alice)
    client.get("/memory/review")

    with django_assert_max_num_queries(9):
        page = client.get("/memory/review").content.decode()
    assert page.count("data-fact ") == 50


# How far one has come --------------------------------------------------------------------------------------------


def test_the_page_says_how_many_wait_and_how_many_were_decided_today(alice: User, sign_in: SignIn) -> None:
    propose(alice, "Waits.")
    accept(propose(alice, "Kept."), by=alice)
    undo(reject(propose(alice, "Rejected, and that undone."), by=alice))

    page = sign_in(alice).get("/memory/review").content.decode()

    assert '<progress value="1" max="3"' in page
    assert "2 memories to review." in page
    assert "1 decided today" in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_when_nothing_waits_any_more_the_page_says_what_was_kept(
    alice: User, sign_in: SignIn, headers: dict[str, str]
) -> None:
    reject(propose(alice, "A wrong one."), by=alice)
    last = propose(alice, "The last one.")

    answer = sign_in(alice).post(f"/memory/review/{last.pk}/accept", headers=headers, follow=True).content.decode()

    done = answer.split('id="queue-done"')[1]
    assert "Today you kept 1 and rejected 1." in done
    assert f'<a href="/memory/facts/{last.pk}">The last one.</a>' in done
    assert answer.count('id="queue-done"') == 1


def test_all_shown_of_one_kind_are_decided_by_one_click(alice: User, sign_in: SignIn) -> None:
    people = [propose(alice, f"Person {n}.") for n in range(3)]
    goal = propose(alice, "A goal.", kind="goal")
    client = sign_in(alice)

    page = client.get("/memory/review").content.decode()

    kinds = page.split('class="kinds"')[1].split("</details>")[0]
    assert "Person, <span data-count>3</span>" in kinds
    assert "Goal" not in kinds, "one alone has its own buttons"
    assert all(f'name="fact" value="{fact.pk}"' in kinds for fact in people)
    client.post("/memory/review/together", {"fact": [fact.pk for fact in people], "verb": "accept"})
    assert {status_of(fact) for fact in people} == {"active"}
    assert status_of(goal) == "proposed"


# Deciding with plain forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "fields", "status"),
    [
        ("accept", {}, "active"),
        ("reject", {}, "rejected"),
        ("edit", {"statement": "The user's sister Mary lives in Porto."}, "active"),
    ],
)
def test_a_plain_form_decides_and_leads_back(
    alice: User, sign_in: SignIn, verb: str, fields: dict[str, str], status: str
) -> None:
    fact = propose(alice)

    response = sign_in(alice).post(f"/memory/review/{fact.pk}/{verb}", fields, follow=True)

    assert response.redirect_chain == [(f"/memory/review#fact-{fact.pk}", 302)]
    assert status_of(fact) == status
    assert "Recent decisions" in response.content.decode()


def test_a_decision_is_undone_with_a_plain_form(alice: User, sign_in: SignIn) -> None:
    fact = propose(alice)
    action = accept(fact, by=alice)

    response = sign_in(alice).post(f"/memory/review/actions/{action.pk}/undo", follow=True)

    assert status_of(fact) == "proposed"
    assert "Undone: " in response.content.decode()


def test_an_edited_value_is_kept_for_keyed_facts_only(alice: User, sign_in: SignIn) -> None:
    keyed, free = propose(alice, key="user/home", value="Lisbon"), propose(alice, value="Lisbon")
    words = {"statement": "The user lives in Porto.", "value": "Porto"}

    for fact in (keyed, free):
        sign_in(alice).post(f"/memory/review/{fact.pk}/edit", words)

    assert [Fact.objects.get(pk=fact.pk).value for fact in (keyed, free)] == ["Porto", "Lisbon"]


def test_a_value_that_was_not_touched_follows_the_new_wording(alice: User, sign_in: SignIn) -> None:
    fact = propose(alice, "The user works at their brother's job.", key="user/employer", value="their brother's job")
    words = {"statement": "You work at the animal clinic in Leipzig.", "value": "their brother's job"}
    sign_in(alice).post(f"/memory/review/{fact.pk}/edit", words)
    assert Fact.objects.get(pk=fact.pk).value == "the animal clinic in Leipzig"

    words = {"statement": "I work at the zoo.", "value": "the animal clinic in Leipzig"}
    sign_in(alice).post(f"/memory/facts/{fact.pk}/correct", words)
    assert Fact.objects.active().get(user=alice).value == "the zoo"


def test_the_words_to_edit_speak_to_the_user_and_are_stored_about_them(alice: User, sign_in: SignIn) -> None:
    fact, client = propose(alice), sign_in(alice)
    assert ">Your sister Mary lives in Lisbon.</textarea>" in client.get("/memory/review").content.decode()

    client.post(f"/memory/review/{fact.pk}/edit", {"statement": "Your sister Mary lives in Madrid."})
    assert Fact.objects.get(pk=fact.pk).statement == "The user's sister Mary lives in Madrid."

    at = f"/memory/facts/{fact.pk}"
    assert ">Your sister Mary lives in Madrid.</textarea>" in client.get(at).content.decode()
    client.post(f"{at}/correct", {"statement": "Your sister Mary lives in Porto."})
    assert Fact.objects.active().get(user=alice).statement == "The user's sister Mary lives in Porto."


@pytest.mark.parametrize("statement", ["", "   ", "x" * 1001, "NUL \x00"], ids=["empty", "blank", "too long", "NUL"])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_words_that_cannot_be_taken_are_handed_back(
    alice: User, sign_in: SignIn, statement: str, headers: dict[str, str]
) -> None:
    fact = propose(alice)

    response = sign_in(alice).post(f"/memory/review/{fact.pk}/edit", {"statement": statement}, headers=headers)

    assert response.status_code == 422
    assert status_of(fact) == "proposed"
    page = response.content.decode()
    assert 'aria-invalid="true"' in page
    assert statement.strip("\x00 ")[:500] in page


def test_a_second_click_gets_a_sentence(alice: User, sign_in: SignIn) -> None:
    fact = propose(alice)
    client = sign_in(alice)

    client.post(f"/memory/review/{fact.pk}/accept")
    response = client.post(f"/memory/review/{fact.pk}/accept", follow=True)

    assert "changed: it is now active" in response.content.decode()
    assert ReviewAction.objects.count() == 1


# In place --------------------------------------------------------------------------------------------------------


def test_with_htmx_the_row_alone_comes_back_with_undo_and_the_new_counts(alice: User, sign_in: SignIn) -> None:
    fact, _ = propose(alice), propose(alice, "Another.")

    response = sign_in(alice).post(f"/memory/review/{fact.pk}/accept", headers=HTMX)
    page = response.content.decode()

    assert response.status_code == 200
    assert "<html" not in page
    assert page.count("<article") == 1
    assert 'data-state="active"' in page
    assert 'data-announce="Accepted: Your sister Mary lives in Lisbon."' in page
    assert f"/memory/review/actions/{ReviewAction.objects.get().pk}/undo" in page
    assert page.count('hx-swap-oob="true"') == 4, "three counts, and what is said at the end"
    assert "1 memory to review." in " ".join(page.split())


def test_with_htmx_an_undone_row_waits_again(alice: User, sign_in: SignIn) -> None:
    fact = propose(alice)
    action = accept(fact, by=alice)

    page = sign_in(alice).post(f"/memory/review/actions/{action.pk}/undo", headers=HTMX).content.decode()

    assert 'data-state="proposed"' in page
    assert f"/memory/review/{fact.pk}/accept" in page


def test_with_htmx_a_refusal_shows_how_things_stand(alice: User, sign_in: SignIn) -> None:
    fact = propose(alice, status="rejected")

    response = sign_in(alice).post(f"/memory/review/{fact.pk}/accept", headers=HTMX)

    assert response.status_code == 409
    assert "changed: it is now rejected" in response.content.decode()


# Whose it is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["accept", "edit", "reject"])
def test_bob_cannot_decide_on_alices_proposals(alice: User, bob: User, sign_in: SignIn, verb: str) -> None:
    fact = propose(alice)

    response = sign_in(bob).post(f"/memory/review/{fact.pk}/{verb}", {"statement": "Bob was here."})

    assert response.status_code == 404
    assert status_of(fact) == "proposed"


def test_bob_cannot_undo_alices_decisions(alice: User, bob: User, sign_in: SignIn) -> None:
    fact = propose(alice)
    action = accept(fact, by=alice)

    assert sign_in(bob).post(f"/memory/review/actions/{action.pk}/undo").status_code == 404
    assert status_of(fact) == "active"


def test_bob_sees_none_of_alices_proposals(alice: User, bob: User, sign_in: SignIn) -> None:
    accept(propose(alice, "A secret of Alice's.", message=say(alice)), by=alice)
    propose(alice, "Another secret.", message=say(alice))

    page = sign_in(bob).get("/memory/review").content.decode()

    assert "secret" not in page


@pytest.mark.parametrize(
    "address", ["/memory/review", "/memory/review/1/accept", "/memory/review/1/edit", "/memory/review/actions/1/undo"]
)
def test_who_is_not_signed_in_is_led_to_the_sign_in_page(db: None, client: Client, address: str) -> None:
    response = client.get(address) if address == "/memory/review" else client.post(address)

    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("address", ["/memory/review/1/accept", "/memory/review/actions/1/undo"])
def test_a_link_decides_nothing(alice: User, sign_in: SignIn, address: str) -> None:
    response = sign_in(alice).get(address)
    assert (response.status_code, response["Location"]) == (302, "/memory/review")
    assert not ReviewAction.objects.exists()


def test_a_form_of_another_site_is_refused(alice: User) -> None:
    fact = propose(alice)
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")

    assert client.post(f"/memory/review/{fact.pk}/accept").status_code == 403
    assert status_of(fact) == "proposed"
