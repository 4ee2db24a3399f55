"""The profile page: documents to edit with their history, boundaries, and facts with where they come from."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from chat.models import Conversation, Message
from memory.documents.revisions import BEGINNINGS, beginnings, save
from memory.facts.links import GAVE_WAY
from memory.models import Boundary, Document, Fact, LibrarianRun, Revision
from tests.chat.long_talk import begin, numbered

type SignIn = Callable[[User], Client]

IDENTITY = BEGINNINGS[0].path
HTMX = {"HX-Request": "true"}
ATTACK = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def fact(user: User, statement: str, **fields: Any) -> Fact:
    made: Fact = Fact.objects.create(user=user, statement=statement, **{"status": Fact.Status.ACTIVE, **fields})
    return made


def page_of(client: Client, address: str = "/memory/about") -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


# Documents -------------------------------------------------------------------------------------------------------


def test_an_empty_profile_shows_what_to_write(alice: User, sign_in: SignIn) -> None:
    page = page_of(sign_in(alice))

    for beginning in BEGINNINGS:
        assert beginning.title in page
    assert "I am a nurse in Porto" in page
    assert "No facts yet" in page


def test_a_document_is_edited_in_place(alice: User, sign_in: SignIn) -> None:
    document = beginnings(alice)[0]

    response = sign_in(alice).post(
        f"/memory/save/{document.pk}", {"text": "I am a nurse.\r\nIn Porto.", "started_from": 0}
    )

    assert response["Location"] == f"/memory/about#document-{document.pk}"
    document.refresh_from_db()
    assert document.text == "I am a nurse.\nIn Porto."
    assert "I am a nurse.<br>In Porto." in page_of(sign_in(alice))


def test_with_htmx_the_document_alone_comes_back(alice: User, sign_in: SignIn) -> None:
    document = beginnings(alice)[0]

    response = sign_in(alice).post(
        f"/memory/save/{document.pk}", {"text": "I am a nurse.", "started_from": 0}, headers=HTMX
    )

    page = response.content.decode()
    assert "<html" not in page
    assert f'id="document-{document.pk}"' in page
    assert 'name="started_from" value="1"' in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_who_meets_a_newer_version_keeps_the_own_text_and_sees_the_difference(
    alice: User, sign_in: SignIn, headers: dict[str, str]
) -> None:
    document = save(alice, IDENTITY, "I live in Porto.", started_from=0)

    response = sign_in(alice).post(
        f"/memory/save/{document.pk}", {"text": "I live in Faro.", "started_from": 0}, headers=headers
    )

    page = response.content.decode()
    assert response.status_code == 409
    assert "changed since you opened it (version 1, by You)" in page
    assert "I live in Faro.</textarea>" in page
    assert 'name="started_from" value="1"' in page
    assert '<del class="diff-del">Porto.</del><ins class="diff-ins">Faro.</ins>' in page
    assert Document.objects.get(pk=document.pk).text == "I live in Porto."


@pytest.mark.parametrize(
    "fields",
    [{"text": "x" * 100_001, "started_from": 0}, {"text": "NUL \x00", "started_from": 0}, {"text": "Lost?"}],
    ids=["too long", "NUL", "incomplete"],
)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_text_that_cannot_be_saved_is_handed_back(
    alice: User, sign_in: SignIn, fields: dict[str, Any], headers: dict[str, str]
) -> None:
    document = beginnings(alice)[0]

    response = sign_in(alice).post(f"/memory/save/{document.pk}", fields, headers=headers)

    assert response.status_code == 422
    assert fields["text"].replace("\x00", "") in response.content.decode()
    assert not Revision.objects.exists()


def test_a_text_that_begins_with_an_empty_line_keeps_it(alice: User, sign_in: SignIn) -> None:
    save(alice, IDENTITY, "\nSecond line.", started_from=0)

    # The first line break after <textarea> is the browser's own to drop.
    assert ">\n\nSecond line.</textarea>" in page_of(sign_in(alice))


# History ---------------------------------------------------------------------------------------------------------


def test_the_history_shows_who_changed_what(alice: User, sign_in: SignIn) -> None:
    save(alice, IDENTITY, "I live in Porto now.", started_from=0)
    document = save(alice, IDENTITY, "I live in Lisbon now.", Revision.Author.LIBRARIAN, "from a talk", started_from=1)

    page = page_of(sign_in(alice), f"/memory/versions/{document.pk}")

    assert '<del class="diff-del">Porto </del><ins class="diff-ins">Lisbon </ins>now.' in page
    assert "<td>Recall</td>" in page
    assert "from a talk" in page
    assert '<ins class="diff-ins">Added</ins> <del class="diff-del">Removed</del>' in page
    assert f'<a href="/memory/documents{IDENTITY}">{document.title}</a>' in page


def test_the_way_to_the_versions_is_called_as_their_page_and_not_as_memorys_history(
    alice: User, sign_in: SignIn
) -> None:
    document, client = save(alice, IDENTITY, "One.", started_from=0), sign_in(alice)
    for address in ("/memory/about", f"/memory/documents{IDENTITY}"):
        link = page_of(client, address).partition(f'href="/memory/versions/{document.pk}"')[2].partition("</a>")[0]
        assert "Versions" in link
        assert "History" not in link


def test_the_first_version_marks_no_changes_and_offers_the_way_back(alice: User, sign_in: SignIn) -> None:
    save(alice, IDENTITY, "One.", started_from=0)
    document = save(alice, IDENTITY, "Two.", started_from=1)

    page = page_of(sign_in(alice), f"/memory/versions/{document.pk}/1")

    assert "<p>One.</p>" in page
    assert "diff-ins" not in page
    assert "Restore this version" in page
    assert ">Note</th>" not in page, "no version has one"


def test_going_back_makes_the_old_text_the_newest_version(alice: User, sign_in: SignIn) -> None:
    save(alice, IDENTITY, "One.", started_from=0)
    document = save(alice, IDENTITY, "Two.", started_from=1)

    response = sign_in(alice).post(
        f"/memory/versions/{document.pk}/restore", {"number": 1, "started_from": 2}, follow=True
    )

    document.refresh_from_db()
    assert document.text == "One."
    assert "Restored version 1" in response.content.decode()


def test_going_back_over_a_newer_version_is_refused(alice: User, sign_in: SignIn) -> None:
    save(alice, IDENTITY, "One.", started_from=0)
    document = save(alice, IDENTITY, "Two.", started_from=1)

    response = sign_in(alice).post(
        f"/memory/versions/{document.pk}/restore", {"number": 1, "started_from": 1}, follow=True
    )

    document.refresh_from_db()
    assert document.text == "Two."
    assert "changed since you opened it" in response.content.decode()


@pytest.mark.parametrize(
    ("fields", "status"),
    [({}, 422), ({"number": "x", "started_from": 1}, 422), ({"number": 9, "started_from": 1}, 404)],
    ids=["empty", "no number", "no such version"],
)
def test_an_incomplete_way_back_is_refused(alice: User, sign_in: SignIn, fields: dict[str, Any], status: int) -> None:
    document = save(alice, IDENTITY, "One.", started_from=0)

    assert sign_in(alice).post(f"/memory/versions/{document.pk}/restore", fields).status_code == status


def test_a_document_without_versions_says_so(alice: User, sign_in: SignIn) -> None:
    document = beginnings(alice)[0]

    assert "No versions yet" in page_of(sign_in(alice), f"/memory/versions/{document.pk}")


# Facts -----------------------------------------------------------------------------------------------------------


def test_facts_stand_by_kind_with_quote_and_source(alice: User, sign_in: SignIn) -> None:
    conversation = Conversation.objects.create(user=alice, title="Cooking")
    message = Message.objects.create(
        user=alice,
        conversation=conversation,
        seq=1,
        turn=1,
        role="user",
        event_type="user_message",
        text="Well, I hate coriander.",
    )
    fact(alice, "The user dislikes coriander.", kind="preference", quote="I hate coriander", message=message)
    fact(alice, "The user's name is Alice.", kind="identity", key="user/name", importance=0.8)

    page = page_of(sign_in(alice))

    assert page.index(">Identity ") < page.index("name is Alice") < page.index(">Preference ")
    assert 'Well, <mark class="mark">I hate coriander</mark>.' in page
    assert reverse("message", args=[message.pk]) in page
    assert page.count(">Always sent</span>") == 1


@pytest.mark.parametrize(
    ("tab", "shown"),
    [
        ("active", {"Active."}),
        ("proposed", {"Proposed."}),
        ("past", {"Replaced.", "Rejected.", "Expired.", "Archived."}),
        ("nonsense", {"Active."}),
    ],
)
def test_each_tab_shows_the_facts_in_its_states(alice: User, sign_in: SignIn, tab: str, shown: set[str]) -> None:
    for status in Fact.Status:
        fact(alice, f"{status.label}.", status=status)

    page = page_of(sign_in(alice), f"/memory/about?show={tab}")

    assert {f"{status.label}." for status in Fact.Status if f">{status.label}.</a>" in page} == shown


def test_a_superseded_fact_names_what_took_its_place(alice: User, sign_in: SignIn) -> None:
    newer = fact(alice, "The user lives in Lisbon.")
    fact(alice, "The user lives in Porto.", status=Fact.Status.SUPERSEDED, superseded_by=newer)

    page = page_of(sign_in(alice), "/memory/about?show=past")

    assert f'Replaced by: <a href="/memory/facts/{newer.pk}">You live in Lisbon.</a>' in page


def test_a_fact_names_what_it_took_the_place_of_how_sure_and_how_fresh_it_is(alice: User, sign_in: SignIn) -> None:
    newer = fact(alice, "The user lives in Lisbon.", confidence=0.85, source="inferred")
    older = fact(alice, "The user lives in Porto.", status=Fact.Status.SUPERSEDED, superseded_by=newer)

    page = page_of(sign_in(alice))

    assert f'Replaced: <a href="/memory/facts/{older.pk}">You live in Porto.</a>' in page
    assert "Inferred from what you said · learned" in page
    assert "quite sure · fresh · importance 3 of 5" in page


def test_a_learned_line_leads_to_its_fact_and_an_own_one_to_none(alice: User, sign_in: SignIn) -> None:
    learned = fact(alice, "The user lives in Lisbon.")
    save(alice, IDENTITY, f"I sing.\n\n- Lives in Lisbon. ^fact-{learned.pk}\n- My own.", "librarian", started_from=0)

    page = page_of(sign_in(alice)).split('id="boundaries"')[0]

    assert "<p>I sing.</p>" in page
    assert f'<li>Lives in Lisbon. <a class="line-fact" href="/memory/facts/{learned.pk}"' in page
    assert "<li>My own.</li>" in page


def test_what_is_listed_as_a_fact_is_folded_away_in_the_profile(alice: User, sign_in: SignIn) -> None:
    learned = fact(alice, "The user lives in Lisbon.")
    save(alice, IDENTITY, f"I sing.\n- Lives in Lisbon. ^fact-{learned.pk}\n- My own.", "librarian", started_from=0)

    lines = re.findall(r'<div class="prose profile-lines" data-read>(.+?)</div>', page_of(sign_in(alice)), re.DOTALL)
    shown = [re.sub(r"<details.+?</details>", "", part, flags=re.DOTALL) for part in lines]

    assert "Lives in Lisbon" in lines[0]
    assert ">1 learned line</summary>" in lines[0]
    assert re.sub(r"<[^>]+>|\s+", " ", shown[0]).split() == ["I", "sing.", "My", "own."]
    assert "How you like to be answered" in shown[1], "an empty one says what belongs there"


@pytest.mark.parametrize("page", ["about", "documents/profile/identity"])
def test_the_editor_hides_marks_and_a_saved_line_keeps_its_own(alice: User, sign_in: SignIn, page: str) -> None:
    home, bees = fact(alice, "The user lives in Lisbon."), fact(alice, "The user keeps bees.")
    text = f"I sing.\n- Lives in Lisbon. ^fact-{home.pk}\n- Keeps bees. ^fact-{bees.pk}"
    document = save(alice, IDENTITY, text, "librarian", started_from=0)
    client = sign_in(alice)

    boxes = re.findall(r"<textarea[^>]*>(.*?)</textarea>", page_of(client, f"/memory/{page}"), re.DOTALL)
    assert "\nI sing.\n- Lives in Lisbon.\n- Keeps bees." in boxes
    assert "^fact" not in page_of(client, f"/memory/{page}")

    edited = "I sing.\r\n- Lives in Lisbon.\r\n- Keeps bees."
    client.post(f"/memory/save/{document.pk}", {"text": edited, "started_from": 1})
    document.refresh_from_db()
    assert document.text == text

    edited = "I sing and dance.\r\n- Lives in Porto."
    client.post(f"/memory/save/{document.pk}", {"text": edited, "started_from": document.revisions.count()})
    statuses = {one.statement: one.status for one in Fact.objects.for_user(alice)}
    assert statuses == {
        "The user lives in Lisbon.": Fact.Status.SUPERSEDED, "The user lives in Porto.": Fact.Status.ACTIVE,
        "The user keeps bees.": Fact.Status.REJECTED,
    }  # fmt: skip


def test_going_back_can_be_taken_back(alice: User, sign_in: SignIn) -> None:
    save(alice, IDENTITY, "One.", started_from=0)
    document = save(alice, IDENTITY, "Two.", started_from=1)
    client, address = sign_in(alice), f"/memory/versions/{document.pk}/restore"

    page = client.post(address, {"number": 1, "started_from": 2}, follow=True).content.decode()

    assert "Undo: restore version 2" in page
    client.post(address, {"number": 2, "started_from": 3})
    document.refresh_from_db()
    assert document.text == "Two."


def test_a_learned_fact_is_rejected_and_the_rejection_undone_in_place(alice: User, sign_in: SignIn) -> None:
    learned = fact(alice, "The user dislikes coriander.")
    client = sign_in(alice)

    page = client.post(f"/memory/review/{learned.pk}/reject", {"page": "about"}, headers=HTMX).content.decode()
    assert "Rejected: You dislike coriander." in page
    assert Fact.objects.get().status == Fact.Status.REJECTED

    action = learned.review_actions.get()
    client.post(f"/memory/review/actions/{action.pk}/undo", {"page": "about"}, headers=HTMX)
    assert Fact.objects.get().status == Fact.Status.ACTIVE


def test_the_page_says_what_a_rejection_brings_back(alice: User, sign_in: SignIn) -> None:
    school = fact(alice, "The user works at a primary school.", key="user/employer")
    older = {"status": "superseded", "superseded_by": school, "reason": GAVE_WAY}
    fact(alice, "The user works at Haukeland hospital.", key="user/employer", **older)

    address = f"/memory/review/{school.pk}/reject"
    page = sign_in(alice).post(address, {"page": "about"}, headers=HTMX).content.decode()

    sentence = "Rejected: You work at a primary school. In use again: You work at Haukeland hospital."
    assert sentence in page


def test_many_facts_are_shown_page_by_page(alice: User, sign_in: SignIn) -> None:
    Fact.objects.bulk_create(Fact(user=alice, statement=f"Fact {n}.", status="active") for n in range(101))

    assert "Page 1 of 2" in page_of(sign_in(alice))
    assert page_of(sign_in(alice), "/memory/about?page=2").count("<article") == 1
    assert page_of(sign_in(alice), "/memory/about?page=nonsense").count("<article") == 100


def test_a_full_profile_takes_as_many_queries_as_a_small_one(
    alice: User, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    for beginning in BEGINNINGS:
        save(alice, beginning.path, "Text.", started_from=0)
    Fact.objects.bulk_create(Fact(user=alice, statement=f"Fact {n}.", status="active") for n in range(60))
    Boundary.objects.bulk_create(Boundary(user=alice, text=f"Rule {n}.") for n in range(5))
    client = sign_in(alice)
    client.get("/memory/about")

    with django_assert_max_num_queries(16):
        client.get("/memory/about")


# Boundaries ------------------------------------------------------------------------------------------------------


def test_boundaries_of_all_are_shown_and_the_own_ones_can_be_changed(alice: User, sign_in: SignIn) -> None:
    common = Boundary.objects.create(text="In a crisis, point to help.")
    own = Boundary.objects.create(user=alice, text="No talk of money.")

    page = page_of(sign_in(alice))

    assert "In a crisis, point to help." in page
    assert "No talk of money." in page
    assert f"/memory/boundaries/{own.pk}/remove" in page
    assert f"/memory/boundaries/{common.pk}" not in page


def test_a_boundary_is_added_changed_and_removed(alice: User, sign_in: SignIn) -> None:
    client = sign_in(alice)

    client.post("/memory/boundaries", {"text": " No talk of money. "})
    own = Boundary.objects.for_user(alice).get()
    assert (own.user, own.text) == (alice, "No talk of money.")

    client.post(f"/memory/boundaries/{own.pk}", {"text": "Money only when I ask."})
    own.refresh_from_db()
    assert own.text == "Money only when I ask."

    client.post(f"/memory/boundaries/{own.pk}/remove")
    assert not Boundary.objects.for_user(alice).exists()


@pytest.mark.parametrize("text", ["", "  ", "x" * 501, "NUL \x00"], ids=["empty", "blank", "too long", "NUL"])
def test_a_boundary_that_says_nothing_or_too_much_is_refused(alice: User, sign_in: SignIn, text: str) -> None:
    own = Boundary.objects.create(user=alice, text="No talk of money.")
    client = sign_in(alice)

    assert client.post("/memory/boundaries", {"text": text}).status_code == 422
    changed = client.post(f"/memory/boundaries/{own.pk}", {"text": text}, follow=True)

    assert "Nothing was saved." in changed.content.decode()
    assert [boundary.text for boundary in Boundary.objects.for_user(alice)] == ["No talk of money."]


# Whose it is -----------------------------------------------------------------------------------------------------


def test_bob_sees_nothing_of_alices_profile(alice: User, bob: User, sign_in: SignIn) -> None:
    save(alice, IDENTITY, "A secret text.", started_from=0)
    fact(alice, "A secret fact.")
    Boundary.objects.create(user=alice, text="A secret rule.")

    assert "secret" not in page_of(sign_in(bob))


@pytest.mark.parametrize(
    ("method", "address", "fields"),
    [
        ("post", "/memory/save/{document}", {"text": "Bob was here.", "started_from": 1}),
        ("get", "/memory/versions/{document}", {}),
        ("get", "/memory/versions/{document}/1", {}),
        ("post", "/memory/versions/{document}/restore", {"number": 1, "started_from": 1}),
        ("post", "/memory/boundaries/{boundary}", {"text": "Bob was here."}),
        ("post", "/memory/boundaries/{boundary}/remove", {}),
        ("post", "/memory/boundaries/{common}", {"text": "Bob was here."}),
        ("post", "/memory/boundaries/{common}/remove", {}),
    ],
)
def test_what_is_not_bobs_is_not_found(
    alice: User, bob: User, sign_in: SignIn, method: str, address: str, fields: dict[str, Any]
) -> None:
    document = save(alice, IDENTITY, "Alice's.", started_from=0)
    boundary = Boundary.objects.create(user=alice, text="Alice's rule.")
    common = Boundary.objects.create(text="Everybody's rule.")
    client = sign_in(bob)

    filled = address.format(document=document.pk, boundary=boundary.pk, common=common.pk)
    response = getattr(client, method)(filled, fields)

    assert response.status_code == 404
    document.refresh_from_db()
    assert document.text == "Alice's."
    assert Boundary.objects.get(pk=boundary.pk).text == "Alice's rule."
    assert Boundary.objects.get(pk=common.pk).text == "Everybody's rule."


def test_who_is_not_signed_in_is_led_to_the_sign_in_page(db: None, client: Client) -> None:
    for address in ("/memory/documents", "/memory/about", "/memory/versions/1"):
        assert client.get(address)["Location"].startswith("/accounts/login/")


def test_hostile_text_is_shown_as_text(alice: User, sign_in: SignIn) -> None:
    document = save(alice, IDENTITY, ATTACK, started_from=0, note=ATTACK)
    fact(alice, ATTACK, quote=ATTACK, reason=ATTACK)
    Boundary.objects.create(user=alice, text=ATTACK)
    client = sign_in(alice)

    for address in ("/memory/about", f"/memory/versions/{document.pk}"):
        page = page_of(client, address)
        assert "<script>alert" not in page
        assert "<img" not in page


# What is still to be read ----------------------------------------------------------------------------------------


def test_the_page_says_what_is_still_to_be_read_and_shows_what_was_learned(
    alice: User, bob: User, sign_in: SignIn
) -> None:
    conversation = begin(alice, numbered(1))
    hasnt_read, is_reading = "Recall hasn't read your latest messages", "Recall is reading your messages."

    assert hasnt_read not in page_of(sign_in(bob))
    client = sign_in(alice)
    assert hasnt_read in page_of(client)
    assert client.get("/memory/about?was=later", headers=HTMX).status_code == 204, "nothing new"
    client.post(f"/c/{conversation.pk}/end")
    page = client.get("/memory/about?was=later", headers=HTMX).content.decode()
    assert is_reading in page
    assert hasnt_read not in page
    LibrarianRun.objects.update(state=LibrarianRun.State.DONE)
    fact(alice, "The user's name is Alex.")
    page = client.get("/memory/about?was=now", headers=HTMX).content.decode()
    assert "Your name is Alex." in page
    assert is_reading not in page
    assert hasnt_read not in page
