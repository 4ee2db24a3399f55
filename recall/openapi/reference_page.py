"""The API reference page: every operation, rendered from the OpenAPI description. No scripts, nothing loaded."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from recall.openapi.schema import TAGS, description

SHARED: Final = "#/components/responses/"
"""Shared error responses are documented once, at the end."""


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter, or a field of a body."""

    name: str
    kind: str
    where: str
    required: bool
    text: str


@dataclass(frozen=True, slots=True)
class Body:
    """A request or response body."""

    status: str
    text: str
    media_type: str = ""
    rows: list[Row] = field(default_factory=list)
    example: str = ""


@dataclass(frozen=True, slots=True)
class OperationDoc:
    id: str
    method: str
    path: str
    summary: str
    text: str
    scope: str
    scope_also: str
    """A further scope it needs in some cases: its text says when."""
    parameters: list[Row]
    body: Body | None
    answers: list[Body]
    problems: list[str]

    @property
    def path_parts(self) -> list[str]:
        """The path in parts between which a narrow page may break it."""
        return [f"/{part}" for part in self.path.split("/")[1:]]


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    schema = description()
    operations = list(_operations(schema))
    groups = [(tag, text, [one for tags, one in operations if tag in tags]) for tag, text in TAGS.items()]
    context = {
        "groups": groups,
        "scopes": schema["x-scopes"],
        "kinds": schema["x-problems"],
        "problems": [_body(status, one, schema) for status, one in schema["components"]["responses"].items()],
        "operations": len(operations),
    }
    return render(request, "api/reference.html", context)


def _operations(schema: Mapping[str, Any]) -> Iterator[tuple[list[str], OperationDoc]]:
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            yield one["tags"], _build_operation(path, method, one, schema)


def _build_operation(path: str, method: str, one: Mapping[str, Any], schema: Mapping[str, Any]) -> OperationDoc:
    responses = {status: body for status, body in one["responses"].items() if not _is_shared(body)}
    sent = one.get("requestBody")
    return OperationDoc(
        id=one["operationId"],
        method=method.upper(),
        path=path,
        summary=one["summary"],
        text=_plain(one.get("description", "")),
        scope=one["x-scope"],
        scope_also=one.get("x-scope-also", ""),
        parameters=[_parameter(row) for row in one.get("parameters", [])],
        body=_body("", sent, schema) if sent else None,
        answers=[_body(str(status), body, schema) for status, body in responses.items()],
        problems=[str(status) for status, body in one["responses"].items() if _is_shared(body)],
    )


def _is_shared(body: Mapping[str, Any]) -> bool:
    return str(body.get("$ref", "")).startswith(SHARED)


def _parameter(row: Mapping[str, Any]) -> Row:
    text = row.get("description") or row["schema"].get("description", "")
    return Row(row["name"], kind_of(row["schema"]), row["in"], bool(row.get("required")), _plain(text))


def _plain(text: str) -> str:
    return text.replace("`", "")


def _body(status: str, body: Mapping[str, Any], schema: Mapping[str, Any]) -> Body:
    nothing: tuple[str, dict[str, Any]] = ("", {})
    media_type, content = next(iter(body.get("content", {}).items()), nothing)
    example = content.get("example", "")
    return Body(
        status,
        body.get("description", ""),
        media_type,
        list(_fields(content.get("schema", {}), schema["components"]["schemas"])),
        example if isinstance(example, str) else json.dumps(example, ensure_ascii=False, indent=2),
    )


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Row]:
    """The fields of a body; for a page or list, those of its items."""
    found = _resolved(schema, schemas)
    if found.get("type") == "array":
        found = _resolved(found.get("items", {}), schemas)
    fields = found.get("properties", {})
    if set(fields) == {"items", "next_cursor"}:
        yield from _fields(fields["items"], schemas)
        return
    required = set(found.get("required", []))
    for name, one in fields.items():
        yield Row(name, kind_of(one), "", name in required, _plain(one.get("description", "")))


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    if choices:
        return _resolved(choices[0], schemas)
    named = schema.get("$ref", "").rpartition("/")[2]
    return schemas[named] if named else schema


def kind_of(schema: Mapping[str, Any]) -> str:
    """A readable type: “text”, “list of whole number”, “Fact or null”."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(kind_of, schema["anyOf"])))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(str(value) or "“”" for value in values)
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    named = {"integer": "whole number", "string": schema.get("format", "text"), "boolean": "true or false"}
    return str(named.get(schema.get("type", ""), schema.get("type", "anything")))
