"""The OpenAPI description, generated from the code and completed with what all operations share.

problems     every status an operation may return, in one shape (recall/openapi/problems.py)
examples     of every request and response body (recall/openapi/examples.py)
scopes       the scope each operation needs
headers      Idempotency-Key for writes that take it; RateLimit and Link in responses
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from django.utils.module_loading import import_string
from ninja.schema import NinjaGenerateJsonSchema

from recall.openapi import problems
from recall.openapi.examples import example_of
from recall.openapi.problems import KINDS, Problem

if TYPE_CHECKING:
    from ninja import NinjaAPI
    from ninja.operation import Operation

Described = dict[str, Any]

INTRODUCTION: Final = """\
Everything Recall's pages do, for programs: chat, search and edit memories, forget, export, and see costs.

**Authentication.** A session with its CSRF token (`X-CSRFToken`), or an API key: `Authorization: Bearer rcl_…`. Create
keys in Settings. A key can only do what its scopes allow, and can't create keys.

**Errors** are problem details (RFC 9457), `application/problem+json`. Other users' data returns 404.

**Pagination.** Use `limit`, and pass the previous page's `next_cursor` as `cursor`. The `Link` header has the full
address.

**Idempotency.** A write repeated with the same `Idempotency-Key` within 24 hours runs once and returns the first
response (`Idempotent-Replayed: true`). Turns take a `client_id` instead.

**Rate limits.** `RateLimit` and `RateLimit-Policy` show your quota. After a 429, wait `Retry-After` seconds.
"""
TAGS: Final[Mapping[str, str]] = {
    "turns": "Send a message and stream the answer as server-sent events.",
    "conversations": "Conversations and their messages.",
    "attachments": "Images, files and long pastes sent with a message.",
    "projects and roles": "Folders with instructions, and instructions for how the model behaves.",
    "memory": "Search everything Recall remembers, and read the profile.",
    "facts": "Single statements, each with its source.",
    "review": "Proposals, decisions, and rules for what is saved automatically.",
    "documents": "The knowledge base: documents at paths, uploads, and synced folders.",
    "episodes": "Key moments from conversations, and the stories they form.",
    "forgetting": "Preview, erase, then verify.",
    "budget": "Prompt plans, receipts, usage, costs and limits.",
    "settings": "Preferences and boundaries.",
    "import and export": "Import conversations and archives; export all data.",
}
SCOPES_AT: Final = "accounts.api.scopes.SCOPES"
HEADER: Final = "Idempotency-Key"
SESSION: Final = "session"
KEY: Final = "key"
EVERYWHERE: Final = (400, 401, 403, 404, 405, 422, 429, 500, 503)
"""Statuses any operation may return: an id in a filter that isn't the user's own is a 404 too."""
WITH_BODY: Final = (413, 415)
WHEN_WRITING: Final = (409,)
PAGED: Final = "next_cursor"


def tags() -> list[Described]:
    """The groups of operations."""
    return [{"name": name, "description": text} for name, text in TAGS.items()]


def complete_schema(schema: Any, api: NinjaAPI) -> Any:
    """django-ninja's description with everything that all operations share."""
    schemas = schema["components"]["schemas"]
    schemas |= _problem_schemas()
    schema["components"] |= {
        "securitySchemes": _security_schemes(),
        "responses": {str(status): _problem_response(status) for status in problems.EXAMPLES},
        "headers": _headers(),
    }
    schema["x-scopes"] = dict(import_string(SCOPES_AT))
    schema["x-problems"] = dict(KINDS)
    declared = {f"{method} {name}": operation for name, method, operation in _operations(api)}
    for methods in schema["paths"].values():
        for method, described in methods.items():
            _complete(described, method, declared[f"{method} {described['operationId']}"], schemas)
    return _named_as_pages(schema)


def _operations(api: NinjaAPI) -> Iterator[tuple[str, str, Operation]]:
    for router in api._get_bound_routers():
        for view in router.path_operations.values():
            for operation in view.operations:
                for method in operation.methods:
                    yield operation.operation_id or operation.view_func.__name__, method.lower(), operation


def _complete(entry: Described, method: str, operation: Operation, schemas: Described) -> None:
    access: Any = operation.auth_callbacks[0]
    entry["security"] = [{KEY: [access.scope]}, {SESSION: []}]
    entry["x-scope"] = access.scope
    if access.also:
        entry["x-scope-also"] = access.also
    is_write = method != "get"
    if is_write and access.replay != "none":
        entry.setdefault("parameters", []).append(_idempotency_parameter())
    statuses = [*EVERYWHERE, *(WITH_BODY if "requestBody" in entry else ()), *(WHEN_WRITING if is_write else ())]
    for status in entry["responses"]:
        _exemplify(entry["responses"][status], schemas)
    for status in sorted(statuses):
        entry["responses"][str(status)] = {"$ref": f"#/components/responses/{status}"}
    for content in entry.get("requestBody", {}).get("content", {}).values():
        content.setdefault("example", example_of(content["schema"], schemas))


def _exemplify(response: Described, schemas: Described) -> None:
    for content in response.get("content", {}).values():
        content.setdefault("example", example_of(content["schema"], schemas))
    response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in ("RateLimit", "RateLimit-Policy")}
    shown = response.get("content", {}).get("application/json", {}).get("example")
    if isinstance(shown, dict) and PAGED in shown:
        response["headers"]["Link"] = {"$ref": "#/components/headers/Link"}


def _problem_schemas() -> Described:
    schema = Problem.model_json_schema(
        ref_template="#/components/schemas/{model}", schema_generator=NinjaGenerateJsonSchema
    )
    inner: Described = schema.pop("$defs")
    return {**inner, "Problem": schema}


def _problem_response(status: int) -> Described:
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": problems.example(status)}
    response: Described = {"description": HTTPStatus(status).phrase, "content": {problems.MEDIA_TYPE: content}}
    names = {401: ["WWW-Authenticate"], 405: ["Allow"], 429: ["Retry-After"], 503: ["Retry-After"]}.get(status, [])
    if names:
        response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    return response


def _headers() -> Described:
    headers = {
        "RateLimit": ('"default";r=599;t=1', "Requests left, and seconds until the full quota is available again"),
        "RateLimit-Policy": ('"default";q=600;w=60', "The quota, and its window in seconds"),
        "Retry-After": ("2", "Seconds to wait"),
        "Link": (
            '<https://chat.example.org/api/v1/memory/facts?cursor=WzEyXQ>; rel="next"',
            "The next page (RFC 8288)",
        ),
        "WWW-Authenticate": ('Bearer realm="Recall"', "How to authenticate"),
        "Allow": ("POST", "Allowed methods"),
    }
    return {
        name: {"schema": {"type": "string"}, "example": value, "description": text}
        for name, (value, text) in headers.items()
    }


def _security_schemes() -> Described:
    return {
        KEY: {"type": "http", "scheme": "bearer", "bearerFormat": "rcl_…", "description": "An API key from Settings"},
        SESSION: {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "A browser session; writes also need X-CSRFToken",
        },
    }


def _idempotency_parameter() -> Described:
    return {
        "in": "header",
        "name": HEADER,
        "required": False,
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        "description": "Repeats with the same key within 24 hours run once. Use a UUID.",
        "example": "5f0c1f3e-8a53-4f0e-9d8b-1f5f2b7a6c11",
    }


def _named_as_pages(schema: Any) -> Any:
    """Rename pydantic's `Page_Fact_` to `FactPage`."""
    names = {name: f"{name[5:-1]}Page" for name in schema["components"]["schemas"] if name.startswith("Page_")}
    renamed = _renamed(dict(schema), {f"#/components/schemas/{old}": new for old, new in names.items()})
    schemas = renamed["components"]["schemas"]
    renamed["components"]["schemas"] = {
        names.get(name, name): {**one, "title": names.get(name, one.get("title", name))}
        for name, one in schemas.items()
    }
    return renamed


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(inner, names) for inner in value]
    if isinstance(value, str) and value in names:
        return f"#/components/schemas/{names[value]}"
    return value


def description() -> Described:
    api: NinjaAPI = import_string("recall.api.api")
    return dict(api.get_openapi_schema())
