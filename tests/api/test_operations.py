"""What pages can do, programs can do: each resource is changed, and stays changed."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from budget.models import BudgetPlan, Receipt
from budget.planning.plan import SMALL, resolve
from budget.planning.what_if import pieces_of, preview
from chat.models import Conversation, Message
from memory.consolidation.jobs import run_requested
from memory.models import Fact
from tests.api.rows import AT, DOCUMENT, everything_of, with_key
from tests.budget.rows import answer_of, draft_for

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queued")]


@pytest.fixture
def rows(alice: Any) -> dict[str, Any]:
    return everything_of(alice, "garlic")


@pytest.fixture
def hers(alice: Any) -> Client:
    return with_key(alice)


def send(program: Client, method: str, path: str, body: Any = None) -> Any:
    sent: dict[str, Any] = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    response = program.generic(method, f"{AT}{path}", **sent)
    assert response.status_code < 300, response.content
    return response.json() if response.content else None


def refused(program: Client, method: str, path: str, body: Any = None) -> int:
    sent: dict[str, Any] = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    response = program.generic(method, f"{AT}{path}", **sent)
    assert response["Content-Type"] == "application/problem+json", response.content
    return int(response.status_code)


def test_a_conversation_is_changed_where_it_is_named_and_nowhere_else(hers: Client, rows: dict[str, Any]) -> None:
    at = f"/conversations/{rows['conversation']}"
    changed = send(hers, "PATCH", at, {"title": "  Of  garlic ", "pinned": True})
    assert (changed["title"], changed["role_id"], changed["scope"]) == ("Of garlic", rows["role"], "/projects/garden")
    assert changed["pinned_at"]
    changed = send(hers, "PATCH", at, {"role": None, "effort": "high", "archived": True})
    assert (changed["role_id"], changed["effort"], changed["scope"]) == (None, "high", "/projects/garden")
    assert changed["archived_at"]
    assert send(hers, "PATCH", at, {"project": None})["scope"] == ""
    assert send(hers, "PATCH", at, {"title": "My password is hunter2"})["title"] == "My password is [secret]"
    assert Conversation.objects.get().title_is_own
    assert refused(hers, "PATCH", at, {}) == 422
    assert refused(hers, "PATCH", at, {"model": "no-such-model"}) == 422
    assert refused(hers, "PATCH", at, {"role": 10**6}) == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [("", 1), ("?pinned=true", 0), ("?archived=false", 1), ("?archived=true", 0), ("?q=GARLIC", 1), ("?q=leek", 0),
     ("?status=active", 1), ("?status=ended", 0), ("?since=2090-01-01T00:00:00Z", 0),
     ("?until=2090-01-01T00:00:00Z", 1),
     ("?project={project}", 1), ("?role={role}", 1)],
)  # fmt: skip
def test_conversations_are_filtered(query: str, found: int, hers: Client, rows: dict[str, Any]) -> None:
    assert len(send(hers, "GET", f"/conversations{query.format(**rows)}")["items"]) == found


def test_a_deleted_conversation_is_gone_and_can_be_brought_back(hers: Client, rows: dict[str, Any]) -> None:
    at = f"/conversations/{rows['conversation']}"
    deleted = send(hers, "DELETE", at)
    for path in (at, f"{at}/messages", f"/turns/{rows['message']}", f"/budget/receipts/{rows['message']}"):
        assert refused(hers, "GET", path) == 404
    assert send(hers, "GET", "/conversations")["items"] == []
    back = send(hers, "POST", "/conversations/restore", {"deleted_at": deleted["deleted_at"]})
    assert back == {"conversations": [str(rows["conversation"])]}
    assert send(hers, "GET", at)["id"] == str(rows["conversation"])
    together = send(hers, "POST", "/conversations/delete", {"conversations": [str(rows["conversation"])]})
    assert together["conversations"] == 1


def test_nothing_is_deleted_while_an_answer_is_written(hers: Client, rows: dict[str, Any]) -> None:
    Message.objects.filter(pk=rows["message"]).update(status="streaming")
    assert refused(hers, "DELETE", f"/conversations/{rows['conversation']}") == 409


def test_messages_are_told_in_order_and_by_branch(hers: Client, alice: Any, rows: dict[str, Any]) -> None:
    answer = Message.objects.get(pk=rows["message"])
    other = Message.objects.create(
        user=alice, conversation=answer.conversation, seq=4, turn=1, parent=answer.parent, role="assistant",
        event_type="assistant_response", text="Another answer",
    )  # fmt: skip
    at = f"/conversations/{rows['conversation']}/messages"
    assert [one["role"] for one in send(hers, "GET", at)["items"]] == ["user", "assistant"]
    assert [one["seq"] for one in send(hers, "GET", f"{at}?branch=all")["items"]] == [1, 2, 4]
    followed = send(hers, "POST", f"/conversations/{rows['conversation']}/follow", {"message": other.pk})
    assert followed["id"] == str(rows["conversation"])
    assert send(hers, "GET", at)["items"][-1]["text"] == "Another answer"


def test_a_conversation_is_exported_ended_and_searched(hers: Client, rows: dict[str, Any]) -> None:
    at = f"/conversations/{rows['conversation']}"
    assert refused(hers, "POST", f"{at}/compact") == 409, "there is nothing to compact yet"
    assert send(hers, "POST", f"{at}/end")["unread"] is False
    assert send(hers, "GET", at)["status"] == "ended"
    found = send(hers, "GET", "/conversations/search?q=garlic")
    assert found["items"][0]["hits"][0]["excerpt"] == "garlic"
    assert refused(hers, "GET", "/conversations/search?q=garlic&cursor=x") == 422


def test_a_proposal_is_accepted_and_that_is_taken_back(hers: Client, rows: dict[str, Any]) -> None:
    (waiting,) = send(hers, "GET", "/memory/review")["items"]
    assert (waiting["id"], waiting["passage"]["quote"]) == (rows["fact"], "garlic")
    decided = send(hers, "POST", f"/memory/facts/{rows['fact']}/accept")
    assert decided["fact"]["status"] == "active"
    assert refused(hers, "POST", f"/memory/facts/{rows['fact']}/accept") == 409
    assert decided["decision"]["id"] in [one["id"] for one in send(hers, "GET", "/memory/decisions")["items"]]
    undone = send(hers, "POST", f"/memory/decisions/{decided['decision']['id']}/undo")
    assert [one["status"] for one in undone["facts"]] == ["proposed"]
    edited = send(hers, "POST", f"/memory/facts/{rows['fact']}/edit", {"statement": "The user  grows garlic."})
    assert edited["fact"]["statement"] == "The user grows garlic."
    assert refused(hers, "POST", f"/memory/facts/{rows['fact']}/edit", {"statement": "  "}) == 422


def test_a_program_says_when_a_fact_is_true_and_which_value_it_sets(hers: Client, rows: dict[str, Any]) -> None:
    told = {
        "statement": "The user lives in Lyon.", "key": "User/Home", "value": "Lyon", "tags": ["#Moves", "moves"],
        "valid_from": "2026-03-01T00:00:00Z", "valid_until": "2027-03-01T00:00:00Z",
    }  # fmt: skip
    assert send(hers, "POST", "/memory/facts", told)["waits"] is True
    (fact,) = send(hers, "GET", "/memory/facts?status=proposed&q=Lyon")["items"]
    assert (fact["key"], fact["value"], fact["kind"]) == ("user/home", "Lyon", "biography")
    assert (fact["tags"], fact["valid_from"][:10], fact["valid_until"][:10]) == (
        ["moves"], "2026-03-01", "2027-03-01",
    )  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": "home"},
        {"key": "user/shoe"},
        {"tags": ["x" * 61]},
        {"valid_from": "2027-01-01T00:00:00Z", "valid_until": "2026-01-01T00:00:00Z"},
    ],
)
def test_a_fact_with_impossible_details_is_refused(hers: Client, rows: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert refused(hers, "POST", "/memory/facts", {"statement": "The user lives in Lyon.", **wrong}) == 422


def test_facts_are_linked_and_the_link_is_removed(hers: Client, rows: dict[str, Any]) -> None:
    at, other = f"/memory/facts/{rows['linked']}/links", rows["fact"]
    linked = send(hers, "POST", at, {"to": other, "relation": "depends_on", "strength": 0.8})
    assert {one["relation"] for one in linked["links"]} <= {"depends_on", "related_to"}
    assert linked["links"][0] | {"fact": 0} == {"fact": 0, "relation": "depends_on", "strength": 0.8}
    assert linked["links"][0]["fact"]["id"] == other
    assert refused(hers, "POST", at, {"to": rows["linked"]}) == 422, "to itself"
    assert refused(hers, "POST", at, {"to": 10**6}) == 404
    assert refused(hers, "POST", at, {"to": other, "relation": "supersedes"}) == 422
    assert hers.delete(f"/api/v1{at}/{other}").status_code == 204
    assert send(hers, "GET", f"/memory/facts/{rows['linked']}")["links"] == []
    assert refused(hers, "DELETE", f"{at}/{other}") == 404


def test_a_fact_in_use_is_corrected_and_the_old_wording_is_history(hers: Client, rows: dict[str, Any]) -> None:
    at = f"/memory/facts/{rows['fact']}"
    words = {"statement": "The user grows leeks."}
    assert refused(hers, "POST", f"{at}/correct", words) == 409, "it is not in use yet"
    send(hers, "POST", f"{at}/accept")
    corrected = send(hers, "POST", f"{at}/correct", words)
    assert (corrected["fact"]["statement"], corrected["fact"]["source"]) == ("The user grows leeks.", "edited")
    assert send(hers, "GET", at)["status"] == "superseded"
    send(hers, "POST", f"/memory/decisions/{corrected['decision']['id']}/undo")
    assert send(hers, "GET", at)["status"] == "active"


def test_a_fact_in_use_is_given_the_days_it_is_true_on(hers: Client, rows: dict[str, Any]) -> None:
    at = f"/memory/facts/{rows['fact']}"
    send(hers, "POST", f"{at}/accept")
    same = {"statement": send(hers, "GET", at)["statement"]}
    began = {"valid_from": "2024-03-01T00:00:00Z"}
    dated = send(hers, "POST", f"{at}/correct", same | began)["fact"]
    assert (dated["id"], dated["valid_from"], dated["status"]) == (rows["fact"], "2024-03-01T00:00:00Z", "active")
    assert refused(hers, "POST", f"{at}/correct", same | {"valid_until": "2024-02-01T00:00:00Z"}) == 409
    ended = send(hers, "POST", f"{at}/correct", same | {"valid_until": "2025-02-01T00:00:00Z"})["fact"]
    assert (ended["valid_from"], ended["status"]) == ("2024-03-01T00:00:00Z", "expired"), "what is not named stays"
    assert send(hers, "POST", f"{at}/correct", same | {"valid_until": None})["fact"]["status"] == "active"


def test_many_are_decided_merged_and_undone_as_one(hers: Client, alice: Any) -> None:
    facts = [Fact.objects.create(user=alice, statement=f"Fact {number}").pk for number in range(3)]
    decided = send(hers, "POST", "/memory/facts/decide", {"facts": [*facts, 10**6], "verb": "accept"})
    assert (len(decided["decisions"]), len(decided["refusals"])) == (3, 1)
    undone = send(hers, "POST", f"/memory/decisions/{decided['decisions'][0]['id']}/undo", {"whole": True})
    assert len(undone["facts"]) == 3
    merged = send(hers, "POST", "/memory/facts/merge", {"facts": facts, "statement": "All of it"})
    assert (merged["fact"]["id"], merged["fact"]["statement"]) == (facts[0], "All of it")
    assert refused(hers, "POST", "/memory/facts/merge", {"facts": [*facts, 10**6]}) == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [("", 1), ("?status=proposed", 1), ("?status=active&status=proposed", 2), ("?tag=garden", 1), ("?q=KNOWN", 1),
     ("?kind=person", 0), ("?status=proposed&conversation={conversation}", 1)],
)  # fmt: skip
def test_facts_are_filtered(query: str, found: int, hers: Client, rows: dict[str, Any]) -> None:
    assert len(send(hers, "GET", f"/memory/facts{query.format(**rows)}")["items"]) == found


def test_rules_and_boundaries_are_set(hers: Client, rows: dict[str, Any]) -> None:
    rules = send(hers, "PATCH", "/memory/policies", {"rules": {"health": "never"}})
    assert {rule["subject"]: rule["rule"] for rule in rules}["health"] == "never"
    assert refused(hers, "PATCH", "/memory/policies", {"rules": {"weather": "never"}}) == 422
    added = send(hers, "POST", "/memory/boundaries", {"text": " Be kind. "})
    assert (added["text"], added["mine"]) == ("Be kind.", True)
    changed = send(hers, "PUT", f"/memory/boundaries/{added['id']}", {"text": "Be kinder."})
    assert changed["text"] == "Be kinder."
    everybodys = next(one for one in send(hers, "GET", "/memory/boundaries") if not one["mine"])
    assert refused(hers, "DELETE", f"/memory/boundaries/{everybodys['id']}") == 404
    assert send(hers, "DELETE", f"/memory/boundaries/{added['id']}") is None


def test_a_document_has_tags_versions_and_a_way_back(hers: Client, rows: dict[str, Any]) -> None:
    send(hers, "PUT", "/memory/document", {"path": DOCUMENT, "text": "Leek.", "version": 1})
    assert [one["number"] for one in send(hers, "GET", f"/memory/document/versions?path={DOCUMENT}")["items"]] == [2, 1]
    assert send(hers, "GET", f"/memory/document/versions/1?path={DOCUMENT}")["text"] == "garlic"
    back = send(hers, "POST", "/memory/document/revert", {"path": DOCUMENT, "number": 1, "version": 2})
    assert (back["text"], back["version"]) == ("garlic", 3)
    assert refused(hers, "POST", "/memory/document/revert", {"path": DOCUMENT, "number": 9, "version": 3}) == 404
    assert refused(hers, "POST", "/memory/document/revert", {"path": DOCUMENT, "number": 1, "version": 2}) == 409
    assert send(hers, "PUT", "/memory/document/tags", {"path": DOCUMENT, "tags": ["Bed ", "bed"]})["tags"] == ["bed"]
    assert send(hers, "GET", "/memory/tags") == [{"tag": "bed", "documents": 1}]
    assert [one["name"] for one in send(hers, "GET", "/memory/folder?path=/projects")] == ["garden"]


def test_what_is_about_words_is_found_forgotten_and_looked_for(hers: Client, alice: Any) -> None:
    fact = Fact.objects.create(user=alice, statement="The user grows shallots.", status="active")
    (match,) = send(hers, "POST", "/memory/forget/topic", {"words": "shallots"})
    assert match["ref"] == f"fact:{fact.pk}"
    asked = {"what": "topic", "ref": [match["ref"]]}
    would = send(hers, "POST", "/memory/forget/preview", asked)
    assert refused(hers, "POST", "/memory/forget", {**asked, "expected": "something-else"}) == 409
    proof = send(hers, "POST", "/memory/forget", {**asked, "expected": would["fingerprint"]})
    assert proof["found_again"] == 0
    assert send(hers, "POST", "/memory/forgotten/check", {"words": "shallots"}) == {"standing": {}}


def test_tidying_up_is_queued_once_and_reported(hers: Client, alice: Any) -> None:
    Fact.objects.create(
        user=alice, statement="The user once saw a heron.", status="active", source="imported", tokens=7,
        recorded_at=timezone.now() - timedelta(days=400),
    )  # fmt: skip
    asked = send(hers, "POST", "/memory/consolidations")
    assert (asked["how"], asked["state"], asked["figures"]) == ("asked", "waiting", None)
    assert send(hers, "POST", "/memory/consolidations")["id"] == asked["id"]
    run_requested(asked["id"], timezone.now())
    latest, *earlier = send(hers, "GET", "/memory/consolidations")["items"]
    assert (latest["id"], latest["state"], len(earlier)) == (asked["id"], "done", 0)
    assert (latest["figures"]["archived"], latest["figures"]["tokens_reclaimed"]) == (1, 7)
    assert latest["sentences"][0].startswith("1 fact archived")


def test_a_plan_is_tried_chosen_and_left(hers: Client, alice: Any) -> None:
    tried = send(hers, "PUT", "/budget/plan", {"preset": "small", "dry_run": True})
    assert tried["total"] == 8_000
    assert tried["preview"] is None, "there is no prompt yet"
    draft_for(answer_of(alice)).save()
    tried = send(hers, "PUT", "/budget/plan", {"preset": "small", "dry_run": True})
    before = pieces_of(Receipt.objects.get())
    shown = preview(before, resolve(SMALL, 1_000_000), before.cut_turns)
    told = tried["preview"]
    assert (told["sentence"], told["before"], told["after"]) == (shown.sentence, shown.before, shown.after)
    assert [one["ref"] for one in told["cut"]] == [change.ref for change in shown.cut]
    assert told["before"] > 0
    assert not BudgetPlan.objects.exists()
    chosen = send(hers, "PUT", "/budget/plan", {"preset": "standard", "ceilings": {"profile": 4_000}})
    assert (chosen["is_own"], chosen["name"]) == (True, "standard (yours)")
    assert BudgetPlan.objects.get().ceilings == {"profile": 4_000}
    assert refused(hers, "PUT", "/budget/plan", {"preset": "standard", "ceilings": {"weather": 1}}) == 422
    assert send(hers, "DELETE", "/budget/plan") is None
    assert not send(hers, "GET", "/budget/plan")["is_own"]


def test_limits_are_set_all_or_none(hers: Client) -> None:
    one = {"what": "turns", "per": "day", "amount": 10}
    (limit,) = send(hers, "PATCH", "/budget/limits", {"limits": [one]})
    assert (limit["amount"], limit["state"]) == ("10.0000", "ok") or limit["amount"] == "10"
    wrong = {"limits": [{**one, "amount": 20}, {"what": "tokens", "per": "day", "amount": 1.5}]}
    assert refused(hers, "PATCH", "/budget/limits", wrong) == 422
    assert float(send(hers, "GET", "/budget/limits")[0]["amount"]) == 10
    assert send(hers, "PATCH", "/budget/limits", {"limits": [{**one, "amount": None}]}) == []


def test_a_receipt_tells_everything_an_answer_was_given(hers: Client, rows: dict[str, Any]) -> None:
    receipt = send(hers, "GET", f"/budget/receipts/{rows['message']}")
    assert receipt["items"][0]["label"] == "garlic"
    assert receipt["items"][0]["parts"] == {"keyword": 0.5}


def test_preferences_are_changed_where_they_are_named(hers: Client, alice: Any) -> None:
    told = send(hers, "PATCH", "/me", {"time_zone": "Asia/Tokyo", "language": "danish"})
    assert (told["time_zone"], told["language"], told["preferred_name"]) == ("Asia/Tokyo", "danish", "Alice")
    assert refused(hers, "PATCH", "/me", {"language": "klingon"}) == 422
    assert refused(hers, "PATCH", "/me", {"time_zone": "Nowhere/At all"}) == 422
    assert refused(hers, "PATCH", "/me", {"chat_model": "no-such-model"}) == 422
    alice.refresh_from_db()
    assert alice.time_zone == "Asia/Tokyo"


def test_roles_and_projects_are_made_and_changed(hers: Client, rows: dict[str, Any]) -> None:
    role = send(hers, "POST", "/roles", {"name": "Cook", "instructions": "Be brief."})
    assert refused(hers, "POST", "/roles", {"name": "Cook", "instructions": "Again."}) == 409
    changed = send(hers, "PUT", f"/roles/{role['id']}", {"name": "Cook", "instructions": "Be long."})
    assert changed["version"] == role["version"] + 1
    project = send(hers, "POST", "/projects", {"name": "Allotment"})
    assert project["path"] == "/projects/allotment"
    assert send(hers, "PATCH", f"/projects/{project['id']}", {"archived": True})["archived_at"]


def test_a_draft_is_uploaded_downloaded_and_removed(hers: Client) -> None:
    file = SimpleUploadedFile("bows.txt", b"Of pernambuco.")
    draft = hers.post(f"{AT}/attachments", {"file": file})
    assert draft.status_code == 201, draft.content
    at = f"/attachments/{draft.json()['id']}"
    content = hers.get(f"{AT}{at}/content")
    assert content.content == b"Of pernambuco."
    assert content["Content-Disposition"].startswith("attachment")
    assert send(hers, "GET", "/attachments?drafts=true")["items"][0]["name"] == "bows.txt"
    assert send(hers, "DELETE", at) is None
    assert refused(hers, "GET", at) == 404


def test_what_was_sent_is_no_draft_any_more(hers: Client, rows: dict[str, Any]) -> None:
    from chat.models import Attachment

    Attachment.objects.filter(pk=rows["attachment"]).update(message=rows["message"])
    assert refused(hers, "DELETE", f"/attachments/{rows['attachment']}") == 409


@pytest.mark.usefixtures("on_this_connection")
def test_choices_go_with_a_new_conversation_only(hers: Client, rows: dict[str, Any]) -> None:
    body = {"text": "x", "conversation": str(rows["conversation"]), "role": rows["role"], "client_id": str(uuid4())}
    assert refused(hers, "POST", "/turns", body) == 422
