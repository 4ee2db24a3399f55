"""The description is complete: every operation with its scope, valid examples, and its possible problems."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from django.test import Client
from ninja.openapi.schema import OpenAPISchema

from accounts.api.auth import ScopeAuth, require_scope
from accounts.api.scopes import SCOPES
from recall.api import api
from recall.environment import BASE_DIR
from recall.openapi.problems import EXAMPLES, KINDS
from recall.openapi.schema import TAGS, description

ROOT = BASE_DIR


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in description()["paths"].items():
        for method, told in methods.items():
            yield method, path, told


def fits(value: Any, schema: dict[str, Any]) -> None:
    whole = {**schema, "components": description()["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def test_every_operation_asks_for_a_scope_and_every_scope_opens_something() -> None:
    used = set()
    for router in api._get_bound_routers():
        for view in router.path_operations.values():
            for operation in view.operations:
                (access,) = operation.auth_callbacks
                assert isinstance(access, ScopeAuth), operation.view_func
                used.add(access.scope)
    assert used == set(SCOPES)


def test_a_scope_that_is_not_there_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="No scope"):
        require_scope("everything")


def test_reading_never_takes_a_scope_of_writing() -> None:
    for method, _, told in operations():
        if method == "get":
            assert not told["x-scope"].endswith(":write"), told["operationId"]


def test_every_operation_is_described() -> None:
    for _, _, told in operations():
        assert re.fullmatch(r"[a-z_]+", told["operationId"])
        assert 2 <= len(told["summary"].split()) <= 14
        assert told["description"].rstrip().endswith(".")
        assert len(told["tags"]) == 1
        assert told["tags"][0] in TAGS
        assert told["security"] == [{"key": [told["x-scope"]]}, {"session": []}]
        for one in told.get("parameters", []):
            assert one["schema"], one
        assert {"401", "403", "404", "422", "429", "500"} <= told["responses"].keys()
        assert any(status.startswith("2") for status in map(str, told["responses"]))


def test_every_example_fits_its_schema() -> None:
    for _, _, told in operations():
        bodies = [told.get("requestBody", {}), *told["responses"].values()]
        contents = [content for body in bodies for content in body.get("content", {}).items()]
        for media_type, content in contents:
            assert content.get("example") not in (None, ""), (told["operationId"], media_type)
            if media_type == "application/json":
                jsonschema.validate(
                    content["example"], {**content["schema"], "components": description()["components"]}
                )


def test_each_problem_has_its_example() -> None:
    components = description()["components"]
    assert components["responses"].keys() == {str(status) for status in EXAMPLES}
    for response in components["responses"].values():
        content = response["content"]["application/problem+json"]
        fits(content["example"], components["schemas"]["Problem"])


def test_names_are_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [told["operationId"] for _, _, told in operations()]
    assert len(set(names)) == len(names)
    seen: dict[str, Any] = {}

    def added(self: Any, definitions: dict[str, Any]) -> None:
        for name, schema in definitions.items():
            fields = sorted(schema.get("properties", schema.get("enum", ())))
            assert seen.setdefault(name, fields) == fields, f"two schemas are called {name}"
        self.schemas.update(definitions)

    monkeypatch.setattr(OpenAPISchema, "add_schema_definitions", added)
    OpenAPISchema(api, "/api/v1/")
    assert len(seen) > 50


def test_writes_take_an_idempotency_key_but_for_turns_and_looks() -> None:
    without = {
        told["operationId"]
        for method, _, told in operations()
        if method != "get" and not any(one["name"] == "Idempotency-Key" for one in told.get("parameters", []))
    }
    turns = {"send_turn", "retry_turn", "continue_turn", "edit_turn", "turn_without"}
    assert without == turns | {"preview_forgetting", "match_topic", "check_forgotten"}


def test_lists_are_read_in_one_way() -> None:
    for method, path, told in operations():
        names = {one["name"] for one in told.get("parameters", [])}
        assert "offset" not in names
        ref = str(told["responses"].get(200, {}).get("content", {}).get("application/json", {}).get("schema", {}))
        if method == "get" and "Page'" in ref:
            assert "cursor" in names, path


def test_the_description_is_served(client: Client) -> None:
    served = client.get("/api/v1/openapi.json")
    assert served.status_code == 200
    assert served.json()["openapi"].startswith("3.1")
    assert set(served.json()["components"]["securitySchemes"]) == {"key", "session"}
    assert [one["name"] for one in served.json()["tags"]] == list(TAGS)


def test_the_reference_tells_every_operation_scope_and_problem(client: Client, db: None) -> None:
    page = client.get("/api/v1/docs")
    html = page.content.decode().replace("<wbr>", "")
    assert page.status_code == 200
    for _, path, told in operations():
        assert f'id="{told["operationId"]}"' in html
        assert path in html
    for name in (*SCOPES, *KINDS):
        assert name in html
    assert "<script>" not in html
    assert "style=" not in html


@pytest.mark.parametrize("address", ["/api/v1/docs", "/api/v1/openapi.json"])
def test_the_description_is_light_on_the_way(client: Client, db: None, address: str) -> None:
    response = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert response["Content-Encoding"] == "gzip"
    assert len(response.content) < 60_000, "with style sheet and scripts still below 120 kB"


def test_a_further_scope_is_told_where_an_operation_takes_one_at_some_places() -> None:
    further = {told["operationId"]: told["x-scope-also"] for _, _, told in operations() if "x-scope-also" in told}
    assert set(further) == {"put_document", "move_documents", "revert_document", "upload_file", "sync_folder"}
    assert set(further.values()) == {"review"}
    with pytest.raises(ValueError, match="No scope"):
        require_scope("memory:write", also="everything")


def test_the_documentation_tells_the_scopes_as_they_are() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    for name, sentence in SCOPES.items():
        assert f"| `{name}` | {sentence} |" in page
    for path in re.findall(r"`(?:GET |POST )?(?:/api/v1)?(/[a-z]+/[^` ]*)`", page):
        assert any(at.endswith(path) or path.startswith(("/retry", "/api/v1")) for _, at, _ in operations()), path
