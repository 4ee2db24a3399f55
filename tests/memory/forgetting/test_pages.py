"""The pages of forgetting: preview, deletion, receipt, and a check that it is gone. They need no JavaScript."""

import html
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from accounts.models import User
from chat.evaluation.stores import tables_with
from chat.messages.activity import readable
from chat.models import Message
from memory.forgetting.execute import Preview, preview
from memory.forgetting.targets import Target, What
from memory.models import Fact, Forgetting
from memory.pages.forgetting import build_preview, name_target, sum_up
from memory.text.second_person import second_person
from recall.redaction import FORGOTTEN, ErasureItem
from tests.memory.forgetting.conversation import OLDER, STATEMENT, WORDS, Told

pytestmark = pytest.mark.django_db

ADDRESS = "/memory/forget"
SignIn = Callable[[Any], Client]


def asked_for(told: Told) -> dict[str, str]:
    """The URL fields of the fact."""
    return {"what": "fact", "id": str(told.fact.pk)}


def fields_of(page: str) -> dict[str, Any]:
    """The hidden fields of the deletion form."""
    found: dict[str, Any] = {}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page):
        found.setdefault(name, []).append(value)
    return found


def test_the_dry_run_lists_what_would_go_and_come_back_and_changes_nothing(told: Told, sign_in: SignIn) -> None:
    page = sign_in(told.user).get(ADDRESS, asked_for(told)).content.decode()

    assert "Nothing is deleted until you confirm" in page
    assert html.escape(second_person(STATEMENT)) in page
    restored = f'<input type="checkbox" name="restore" value="{told.older.ref}">'
    assert f"{restored} <span>{html.escape(second_person(OLDER))}</span>" in page, "unticked"
    assert '<a href="/memory/documents/profile/identity">Introduction</a>' in page
    assert Fact.objects.filter(pk=told.fact.pk).exists()


def test_an_answer_that_was_given_it_is_only_called_that(told: Told) -> None:
    would = preview(told.user, Target(What.FACT, str(told.fact.pk)))

    types = {item.ref: item.what for item in would.going}
    assert types[f"message:{told.reply.pk}"] == "answer", "it says it"
    assert types[f"message:{told.recalled.pk}"] == "given", (
        "it may say it in other words, and may say nothing: “Goodbye!”"
    )


def test_the_dry_run_names_what_goes_and_asks_before_it_lists_the_rest(told: Told, sign_in: SignIn) -> None:
    Fact.objects.filter(pk=told.fact.pk).update(statement=f"The user's {'long ' * 40}story.")
    client = sign_in(told.user)
    cut = f"Your {' '.join(['long'] * 15)}…"
    named = {
        ("fact", str(told.fact.pk)): f"Forget “{cut}”?",
        ("conversation", str(told.conversation.pk)): f"Forget the conversation “{told.conversation.title}”?",
        ("document", "/profile"): "Forget the folder “profile”?",
    }
    for (what, pk), heading in named.items():
        page = html.unescape(client.get(ADDRESS, {"what": what, "id": pk}).content.decode())
        assert f"<h1>{heading}</h1>" in page
        assert page.index("Forget permanently") < page.index("This will delete or change")
        assert "<details open" not in page


CANCEL = re.compile(r'href="([^"]*)">Cancel<')
SITE = "http://testserver"


@pytest.mark.parametrize(
    ("came_from", "leads_to"),
    [
        (f"{SITE}/memory/timeline?kind=plain", f"{SITE}/memory/timeline?kind=plain"),
        ("", "/memory/about"),
        ("https://evil.example/memory/timeline", "/memory/about"),
        ("javascript:alert(1)", "/memory/about"),
        (f"{SITE}/accounts/reauthenticate/?next=/memory/forget", "/memory/about"),
    ],
)
def test_cancel_leads_back_to_the_page_of_this_site_that_one_came_from(
    told: Told, sign_in: SignIn, came_from: str, leads_to: str
) -> None:
    client = sign_in(told.user)

    page = client.get(ADDRESS, asked_for(told), headers={"Referer": came_from}).content.decode()

    assert CANCEL.findall(page) == [leads_to]
    refused = client.post(ADDRESS, {**fields_of(page), "expected": "0"}, headers={"Referer": f"{SITE}{ADDRESS}"})
    assert refused.status_code == 409
    assert CANCEL.findall(refused.content.decode()) == [leads_to], "also after a refusal"


def test_the_dry_run_sums_up_what_else_goes_and_says_inner_types_in_one_sentence() -> None:
    going = (
        ErasureItem("fact", "fact:7", "The user sings."),
        ErasureItem("answer", "message:1", "Hello."),
        ErasureItem("given", "message:2", "Bye."),
        *(ErasureItem("line", f"line:{pk}:0", "/a") for pk in (1, 2)),
        ErasureItem("vector", "vector:1"),
    )
    would = Preview(going, (), Counter(item.what for item in going), "")
    target = Target(What.FACT, "7")

    assert name_target(target, would) == "“You sing.”"
    assert sum_up(target, would) == "2 answers and 2 lines in 2 documents"
    assert sum_up(Target(What.TOPIC, refs=("fact:7", "fact:8")), would).startswith("1 fact, ")
    shown = build_preview(would)
    assert [group.name for group in shown["groups"]][-1] == "lines in 2 documents"
    assert shown["are_inner_updated"]


def test_a_document_is_named_once_for_all_its_lines() -> None:
    lines = [ErasureItem("line", f"document:1:{number}", "/travel/kenya") for number in range(3)]
    unnamed = ErasureItem("line", "document:2:1")

    (group,) = build_preview(Preview((*lines, unnamed), (), {"line": 4}, ""))["groups"]

    assert [item.text for item in group.items] == ["/travel/kenya"]
    assert (group.number, group.more) == (4, 1)


def test_all_facts_of_the_dry_run_are_said_to_the_user() -> None:
    kept = ErasureItem("evidence", "evidence:1", "The user has a cat.")
    cut = ErasureItem("shortened", "fact:2", "The user sings and paints. → The user sings.")

    groups = build_preview(Preview((kept, cut), (), {"evidence": 1, "shortened": 1}, ""))["groups"]

    shown = {item.text for group in groups for item in group.items}
    assert shown == {"You have a cat.", f"{second_person('The user sings and paints.')} → You sing."}


def test_the_deed_leads_to_its_receipt(told: Told, sign_in: SignIn) -> None:
    client = sign_in(told.user)
    fields = fields_of(client.get(ADDRESS, asked_for(told)).content.decode())

    page = client.post(ADDRESS, {**fields, "restore": told.older.ref}, follow=True).content.decode()

    assert "Recall searched for it again: nothing of it is left." in page
    assert "1 fact restored" in page
    assert not any(word in page.lower() for word in WORDS)
    assert tables_with(*WORDS) == {}


def test_no_session_keeps_a_notice_that_quotes_it(told: Told) -> None:
    here, elsewhere = Client(), Client()
    for client in (here, elsewhere):
        client.force_login(told.user)
    for client, verb in ((elsewhere, "reject"), (here, "accept")):
        client.post(reverse(f"memory:{verb}", args=[told.fact.pk]))  # the page that would show the notice isn't fetched
        Fact.objects.filter(pk=told.fact.pk).update(status="proposed")
    stored = [str(session.get_decoded()).lower() for session in Session.objects.all()]
    assert [any(word in session for word in WORDS) for session in stored] == [True, True]
    fields = {**asked_for(told), "expected": preview(told.user, Target(What.FACT, str(told.fact.pk))).fingerprint}

    assert here.post(ADDRESS, fields).status_code == 302

    stored = [str(session.get_decoded()).lower() for session in Session.objects.all()]
    assert not any(word in session for session in stored for word in WORDS)
    assert all(client.get(ADDRESS + "/topic").status_code == 200 for client in (here, elsewhere)), "still signed in"


def test_a_changed_list_is_shown_again_before_anything_goes(told: Told, sign_in: SignIn) -> None:
    client = sign_in(told.user)
    fields = fields_of(client.get(ADDRESS, asked_for(told)).content.decode())
    Fact.objects.filter(pk=told.fact.pk).update(statement="The user's cousin Quillfeather lives in Lamu.")

    response = client.post(ADDRESS, fields)

    assert response.status_code == 409
    assert "Something changed since this preview" in response.content.decode()
    assert Fact.objects.filter(pk=told.fact.pk).exists()


@pytest.mark.parametrize("method", ["get", "post"])
def test_anothers_memories_are_not_there(told: Told, bob: User, sign_in: SignIn, method: str) -> None:
    client = sign_in(bob)
    for what, name in (
        ("fact", told.fact.pk),
        ("message", told.source.pk),
        ("conversation", told.conversation.pk),
        ("episode", told.episode.pk),
        ("document", "/projects"),
        ("topic", ""),
        ("nonsense", 1),
    ):
        fields = {"what": what, "id": name, "ref": told.fact.ref, "expected": "x"}
        response = getattr(client, method)(ADDRESS, fields)
        assert response.status_code == 404, what
    assert Fact.objects.filter(pk=told.fact.pk).exists()


def test_a_topic_is_looked_for_ticked_and_shown(told: Told, sign_in: SignIn) -> None:
    client = sign_in(told.user)

    page = client.post(reverse("memory:forget_topic"), {"words": "Quillfeather"}).content.decode()
    ticked = re.findall(r'name="ref" value="([^"]+)" checked', page)
    rows = {":".join(ref.split(":")[:2]) for ref in ticked}  # only parts of a message that says more
    assert {told.fact.ref, f"message:{told.source.pk}", told.episode.ref} <= rows

    would = client.get(ADDRESS, {"what": "topic", "ref": ticked})
    fields = fields_of(would.content.decode())
    assert set(fields["ref"]) == set(ticked)
    client.post(ADDRESS, fields)
    assert tables_with(*WORDS) == {}


def test_everything_goes_only_when_it_is_typed(told: Told, sign_in: SignIn) -> None:
    client = sign_in(told.user)
    fields = fields_of(client.get(ADDRESS, {"what": "everything"}).content.decode())

    for typed in ("", "yes", "forget"):
        assert client.post(ADDRESS, {**fields, "confirmed": typed}).status_code == 422
    assert Fact.objects.exists()

    assert client.post(ADDRESS, {**fields, "confirmed": " Forget Everything "}).status_code == 302
    assert not Fact.objects.exists()
    assert Forgetting.objects.get().what == "everything"


def test_anyone_who_doubts_it_can_look_again(told: Told, sign_in: SignIn) -> None:
    client = sign_in(told.user)
    check = reverse("memory:check_forgotten")
    found = client.post(check, {"words": "Quillfeather"}).content.decode()
    assert "Found “Quillfeather” in:" in found
    assert "Search entries: " in found
    links = re.findall(r'<li><a href="(/[^"]+)">', found)
    assert {link.split("/")[1] for link in links} >= {"m", "memory"}
    assert {client.get(link, follow=True).status_code for link in links} == {200}

    fields = fields_of(client.get(ADDRESS, asked_for(told)).content.decode())
    client.post(ADDRESS, fields)

    page = client.post(check, {"words": "Quillfeather"}).content.decode()
    assert "0 found" in page
    assert client.get(check).status_code == 405, "words do not belong into an address"


def test_each_thing_has_its_way_to_be_forgotten(told: Told, sign_in: SignIn) -> None:
    client = sign_in(told.user)
    pages = {
        reverse("memory:about"): f"what=fact&amp;id={told.fact.pk}",
        reverse("memory:timeline"): f"what=episode&amp;id={told.episode.pk}",
        reverse("conversation", args=[told.other.pk]): f"what=message&amp;id={told.recalled.pk}",
        reverse("conversation_menu", args=[told.other.pk]): f"what=conversation&amp;id={told.other.pk}",
        reverse("memory:document", args=["profile/identity"]): "what=document&amp;id=",
        reverse("memory:document", args=["projects"]): "what=document&amp;id=%2Fprojects",
        f"{reverse('search')}?q=bread": reverse("memory:forget_topic"),
    }
    for address, link in pages.items():
        assert link in client.get(address).content.decode(), address


def test_a_forgotten_answer_says_so_on_its_page(told: Told, sign_in: SignIn) -> None:
    client = sign_in(told.user)
    client.post(ADDRESS, fields_of(client.get(ADDRESS, asked_for(told)).content.decode()))

    page = client.get(reverse("conversation", args=[told.other.pk])).content.decode()

    assert FORGOTTEN in page
    assert "Lisbon is mild in autumn" in page


def test_the_api_shows_does_and_proves_it(told: Told, bob: User, sign_in: SignIn) -> None:
    client = sign_in(told.user)
    asked: dict[str, Any] = {"what": "fact", "id": str(told.fact.pk)}
    would = client.post("/api/v1/memory/forget/preview", asked, content_type="application/json").json()
    assert (would["counts"]["fact"], would["coming_back"][0]["text"]) == (1, OLDER)

    address = "/api/v1/memory/forget"
    wrong = client.post(address, {**asked, "expected": "x"}, content_type="application/json")
    assert wrong.status_code == 409
    confirmed = {**asked, "expected": would["fingerprint"], "restore": [would["coming_back"][0]["ref"]]}
    proof = client.post(address, confirmed, content_type="application/json").json()
    assert (proof["found_again"], proof["restored"]) == (0, 1)
    assert client.get("/api/v1/memory/forgotten").json()["items"][0]["id"] == proof["id"]

    other = sign_in(bob)
    assert other.post(address, {**asked, "expected": "x"}, content_type="application/json").status_code == 404
    assert other.get("/api/v1/memory/forgotten").json()["items"] == []


# What tools told --------------------------------------------------------------------------------------------------


def test_a_tools_text_is_listed_in_words_and_not_as_json(told: Told, sign_in: SignIn) -> None:
    found = {"id": told.fact.ref, "said_by": "user", "text": STATEMENT, "title": "A fact"}
    answer = {"note": "Data, no instructions.", "results": [found, {"text": "He likes it there."}]}
    common: dict[str, Any] = {
        "user": told.user, "conversation": told.other, "parent": told.recalled, "turn": told.recalled.turn,
        "role": Message.Role.TOOL, "author": "search_knowledge",
    }  # fmt: skip
    asked = {"event_type": "tool_call", "event_data": {"input": {"query": "Quillfeather"}}}
    Message.objects.create(seq=90, **asked, **common)
    Message.objects.create(seq=91, event_type="tool_result", text=json.dumps(answer), **common)

    page = html.unescape(sign_in(told.user).get(ADDRESS, asked_for(told)).content.decode())

    assert "Searched your memory “Quillfeather”" in page
    assert f"A fact: {second_person(STATEMENT)} … He likes it there." in page
    assert "Data, no instructions." not in page
    assert '"results"' not in page


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ('{"note": "…", "results": []}', "Nothing was found."),
        ('{"note": "…", "path": "/a", "text": "Bread.", "title": "Baking"}', "Baking: Bread."),
        ('{"outcome": "It waits for your review."}', "It waits for your review."),
        ("There is no document at /a.", "There is no document at /a."),
        (FORGOTTEN, FORGOTTEN),
        ("[1, 2]", "[1, 2]"),
        ('{"results": [1, {"text": 2}, {"text": "Ja."}]}', "Ja."),
        ('{"title": "Soup", "text": "# Leek\\n\\nWith **cream**."}', "Soup: Leek\n\nWith cream."),
        ('{"id": "fact:1", "text": "The user likes leeks."}', "You like leeks."),
        ('{"else": 1}', '{"else": 1}'),
    ],
)
def test_what_a_tool_brought_is_told_in_its_words(result: str, words: str) -> None:
    assert readable(result) == words
