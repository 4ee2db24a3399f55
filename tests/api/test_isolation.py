"""For Bob, with a key that may do everything, nothing of Alice's exists: every operation is tried."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.db import transaction

from accounts.api.scopes import SCOPES
from chat.models import Message
from memory.index.indexer import index_conversation
from recall.db.acting import as_user
from recall.openapi.schema import description
from tests.api.rows import DOCUMENT, everything_of, filled, with_key
from tests.running import streamed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_this_connection")]
WORD = "xyzzy-secret"
JSON = "application/json"


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in description()["paths"].items():
        for method, told in methods.items():
            yield method, path, told


def of_a_row() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Operations whose URL names a row, or a document by its path."""
    for method, path, told in operations():
        if "{" in path or any(one["name"] == "path" and one["required"] for one in told.get("parameters", [])):
            yield method, path, told


def body_of(told: dict[str, Any]) -> Any:
    content = told.get("requestBody", {}).get("content", {}).get("application/json")
    return content["example"] if content else None


def rows() -> dict[str, Any]:
    ours = ("chat", "memory", "budget")
    models = [model for name in ours for model in apps.get_app_config(name).get_models()]
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}


def rows_of(user: Any) -> dict[str, Any]:
    return {name: [row for row in found if row.get("user_id") == user.pk] for name, found in rows().items()}


def test_no_row_of_alices_is_there_for_bob(alice: Any, bob: Any, queued: Any) -> None:
    hers, program = everything_of(alice, WORD), with_key(bob)
    before = rows()
    for method, path, told in of_a_row():
        query = f"?path={DOCUMENT}" if any(one["name"] == "path" for one in told.get("parameters", [])) else ""
        body = body_of(told)
        sent: dict[str, Any] = {"data": json.dumps(body), "content_type": JSON} if body else {}
        response = program.generic(method.upper(), f"{filled(path, hers)}{query}", **sent)
        deletes_by_path = told["operationId"] == "delete_documents"
        assert response.status_code == (200 if deletes_by_path else 404), (told["operationId"], response.content)
        assert WORD not in response.content.decode()
    assert rows() == before


def ids_of(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of bodies and queries that name rows."""
    return {
        "conversation": str(row["conversation"]), "conversations": [str(row["conversation"])], "role": row["role"],
        "project": row["project"], "attachments": [row["attachment"]], "message": row["message"],
        "to": row["linked"], "into": row["linked"], "facts": [row["fact"], row["linked"]], "id": str(row["fact"]),
        "ref": [f"fact:{row['linked']}"], "refs": [f"fact:{row['linked']}"],
    }  # fmt: skip


def test_no_id_of_alices_in_a_body_or_query_of_bobs_opens_anything(alice: Any, bob: Any, queued: Any) -> None:
    her_rows, program = everything_of(alice, WORD), with_key(bob)
    with as_user(bob.pk):
        his_rows = everything_of(bob, "his own")
    hers, his = ids_of(her_rows), ids_of(his_rows)
    before, tried = rows_of(alice), set[str]()
    for method, path, told in operations():
        address, body = filled(path, his_rows), body_of(told) or {}
        own = {name: his.get(name, value) for name, value in body.items()}
        if told["operationId"] == "send_turn":  # the options go with a new conversation only
            own = {"text": "Hi"}
        for name in hers.keys() & body.keys():
            mixed = [*his[name], *hers[name]] if isinstance(his[name], list) else hers[name]
            data = json.dumps({**own, name: mixed})
            response = program.generic(method.upper(), address, data=data, content_type=JSON)
            assert response.status_code < 500, (told["operationId"], name, response.content)
            assert WORD not in response.content.decode(), (told["operationId"], name)
            assert rows_of(alice) == before, (told["operationId"], name)
            tried.add(f"{told['operationId']} {name}")
        for name in hers.keys() & {one["name"] for one in told.get("parameters", []) if one["in"] == "query"}:
            response = program.get(address, {name: hers[name], "q": WORD})
            assert response.status_code in (200, 404), (told["operationId"], name, response.content)
            assert WORD not in response.content.decode(), (told["operationId"], name)
            tried.add(f"{told['operationId']} {name}")
    assert tried >= {"send_turn attachments", "merge_facts into", "link_facts to", "list_answers ref"}, tried


def test_no_list_of_bobs_holds_anything_of_alices(alice: Any, bob: Any) -> None:
    everything_of(alice, WORD)
    program = with_key(bob)
    for method, path, _ in operations():
        if method == "get" and "{" not in path and "export" not in path:
            response = program.get(path, {"q": WORD, "path": "/projects"})
            assert response.status_code in (200, 404), (path, response.content)
            assert WORD not in response.content.decode(), path


def test_alice_finds_her_own_everywhere(alice: Any, queued: Any) -> None:
    row = everything_of(alice, WORD)
    program, silent = with_key(alice), []
    for method, path, told in operations():
        if method != "get" or "export_everything" in told["operationId"]:
            continue
        query = {"path": DOCUMENT} if any(one["name"] == "path" for one in told.get("parameters", [])) else {}
        response = program.get(filled(path, row), {**query, "q": WORD} if path.endswith("/search") else query)
        assert response.status_code == 200, (path, response.content)
        content = async_to_sync(streamed)(response) if response.streaming else response.content
        if WORD not in content.decode():
            silent.append(told["operationId"])
    assert set(silent) <= WITHOUT_HER_WORDS, set(silent) - WITHOUT_HER_WORDS


WITHOUT_HER_WORDS = {
    "get_conversation_state", "get_limits", "get_me", "get_plan", "get_profile", "get_usage", "list_consolidations",
    "list_decisions", "list_folder", "list_forgotten", "list_learned", "list_limits", "list_looks", "list_models",
    "list_policies", "list_receipts", "list_spent", "list_tags", "list_usage", "list_versions", "search_memory",
    "list_documents",
}  # fmt: skip
"""Operations that return numbers, model names, or what these rows don't have."""


def test_nobody_is_let_in(client: Any, db: None) -> None:
    row = dict.fromkeys(("fact", "linked", "decision", "boundary", "episode", "upload", "import", "attachment"), 1)
    row |= dict.fromkeys(("role", "project", "message", "tried"), 1)
    for method, path, told in operations():
        address = filled(path, {**row, "conversation": "0b6f6a9e-3f0e-4a53-9a6a-3f2f1c8f0d21"})
        response = client.generic(method.upper(), address, data="{}", content_type="application/json")
        assert response.status_code == 401, (told["operationId"], response.content)
        assert response["WWW-Authenticate"]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_opens_no_operation_of_another_scope(alice: Any, scope: str) -> None:
    hers, program = everything_of(alice, WORD), with_key(alice, scope)
    before = rows()
    for method, path, told in operations():
        if told["x-scope"] != scope:
            response = program.generic(method.upper(), f"{filled(path, hers)}?path={DOCUMENT}", content_type=JSON)
            assert (response.status_code, response.json()["scope"]) == (403, told["x-scope"]), told["operationId"]
    assert rows() == before


def test_a_key_that_may_only_write_memory_reads_none(alice: Any, queued: Any) -> None:
    hers, program = everything_of(alice, WORD), with_key(alice, "memory:write")
    refused = set()
    for method, path, told in operations():
        body = body_of(told)
        if told["x-scope"] != "memory:write":
            continue
        if isinstance(body, dict):
            body |= {"path": DOCUMENT, "number": 1, "version": 1, "text": WORD[:3]}
            body |= {"to": hers["linked"] if path.endswith("/links") else "/projects/moved"}
        sent: dict[str, Any] = {"data": json.dumps(body), "content_type": JSON} if body else {}
        with transaction.atomic():
            response = program.generic(method.upper(), filled(path, hers), **sent)
            transaction.set_rollback(True)
        assert WORD not in response.content.decode(), told["operationId"]
        refused |= {told["operationId"]} if b"memory:read" in response.content else set()
    assert refused == {"link_facts", "put_document_tags", "revert_document", "retry_upload"}


def test_a_key_that_may_not_read_chats_finds_none_of_their_messages(alice: Any, queued: Any) -> None:
    conversation = everything_of(alice, WORD)["conversation"]
    Message.objects.filter(conversation=conversation, role="user").update(text="The orchid on the sill blooms.")
    index_conversation(conversation)
    asked = f"/api/v1/memory/search?q={WORD} orchid on the sill"

    found = with_key(alice, "memory:read").get(asked).json()["results"]
    assert found
    assert {one["source"] for one in found} <= {"fact", "episode", "document"}
    for source in ("message", "segment"):
        refused = with_key(alice, "memory:read").get(f"{asked}&source={source}")
        assert (refused.status_code, refused.json()["scope"]) == (403, "chat:read")
    with_both = with_key(alice, "memory:read", "chat:read").get(asked).json()["results"]
    assert "message" in {one["source"] for one in with_both}
