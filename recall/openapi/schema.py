"""How is the API described? OpenAPI out of the code itself, completed with what is the same for all operations.

problems     every operation names each status it may answer, all in one shape (recall/openapi/problems.py)
examples     of every body that is sent or answered (recall/openapi/examples.py)
scopes       what each operation asks of a key
headers      Idempotency-Key where a write takes it; RateLimit and Link where they are told
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
Everything that Recall's pages do, for programs. What Recall remembers of you, and how to ask, change and forget it.

**Who calls.** A session with its CSRF token (`X-CSRFToken`), or a key: `Authorization: Bearer rcl_…`. Keys are made on
the page of settings; each opens what its scopes say. No key makes keys.

**Errors** are problem details (RFC 9457), `application/problem+json`. What belongs to somebody else is not there: 404.

**Lists** are read page by page: `limit`, and the `next_cursor` of the page before as `cursor`; the header `Link` has
the whole address.

**Writing twice.** With the header `Idempotency-Key`, a write that is sent again within a day is done once, and answered
as the first time (`Idempotent-Replayed: true`). Turns take a `client_id` instead.

**How often.** `RateLimit` and `RateLimit-Policy` tell what is left; a 429 says in `Retry-After` how long to wait.
"""
TAGS: Final[Mapping[str, str]] = {
    "turns": "Say something, and read the answer as it is written: server-sent events.",
    "conversations": "What was said, and the conversations themselves.",
    "attachments": "Images, files and long pastes that go with a message.",
    "projects and roles": "Folders with instructions, and ways for the model to behave.",
    "memory": "Search over everything that is remembered, and the profile.",
    "facts": "Single statements, each with the words it rests on.",
    "review": "What waits for a decision, what was decided, and the rules for what is remembered unasked.",
    "documents": "The knowledge base: texts at paths, uploads, and folders kept in step.",
    "episodes": "Significant stretches of conversation, and the stories they make.",
    "forgetting": "First what would go, then the deed, then its proof.",
    "budget": "What prompts hold, what they cost, and what holds them back.",
    "settings": "Preferences and boundaries.",
    "import and export": "Everything in, and everything out.",
}
SCOPES_AT: Final = "accounts.api.scopes.SCOPES"
HEADER: Final = "Idempotency-Key"
SESSION: Final = "session"
KEY: Final = "key"
EVERYWHERE: Final = (400, 401, 403, 404, 405, 422, 429, 500, 503)
"""What any operation may answer: an address that is no row of the caller's is a 404 also in a filter."""
WITH_BODY: Final = (413, 415)
WHEN_WRITING: Final = (409,)
PAGED: Final = "next_cursor"


def tags() -> list[Described]:
    """What the operations are grouped by."""
    return [{"name": name, "description": text} for name, text in TAGS.items()]


def complete_schema(schema: Any, api: NinjaAPI) -> Any:
    """The description of django-ninja with everything that is the same for all operations."""
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
    for at, methods in schema["paths"].items():
        for method, told in methods.items():
            _complete(told, method, declared[f"{method} {told['operationId']}"], schemas)
            assert at  # every address has a name
    return _named_as_pages(schema)


def _operations(api: NinjaAPI) -> Iterator[tuple[str, str, Operation]]:
    for router in api._get_bound_routers():
        for view in router.path_operations.values():
            for operation in view.operations:
                for method in operation.methods:
                    yield str(operation.operation_id), method.lower(), operation


def _complete(told: Described, method: str, operation: Operation, schemas: Described) -> None:
    access: Any = operation.auth_callbacks[0]
    told["security"] = [{KEY: [access.scope]}, {SESSION: []}]
    told["x-scope"] = access.scope
    if access.also:
        told["x-scope-also"] = access.also
    is_write = method != "get"
    if is_write and access.replay != "none":
        told.setdefault("parameters", []).append(_idempotency_parameter())
    statuses = [*EVERYWHERE, *(WITH_BODY if "requestBody" in told else ()), *(WHEN_WRITING if is_write else ())]
    for status in told["responses"]:
        _exemplify(told["responses"][status], schemas)
    for status in sorted(statuses):
        told["responses"][str(status)] = {"$ref": f"#/components/responses/{status}"}
    for content in told.get("requestBody", {}).get("content", {}).values():
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
    told = {
        "RateLimit": ('"default";r=599;t=1', "What is left, and in how many seconds the whole quota is there again"),
        "RateLimit-Policy": ('"default";q=600;w=60', "The quota, and its window in seconds"),
        "Retry-After": ("2", "Seconds to wait"),
        "Link": (
            '<https://chat.example.org/api/v1/memory/facts?cursor=WzEyXQ>; rel="next"',
            "The next page (RFC 8288)",
        ),
        "WWW-Authenticate": ('Bearer realm="Recall"', "How to say who calls"),
        "Allow": ("POST", "What is possible here"),
    }
    return {
        name: {"schema": {"type": "string"}, "example": value, "description": text}
        for name, (value, text) in told.items()
    }


def _security_schemes() -> Described:
    return {
        KEY: {"type": "http", "scheme": "bearer", "bearerFormat": "rcl_…", "description": "A key made in the settings"},
        SESSION: {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "A session of the pages; with X-CSRFToken where something is changed",
        },
    }


def _idempotency_parameter() -> Described:
    return {
        "in": "header",
        "name": HEADER,
        "required": False,
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        "description": "The same again within a day is done once; a UUID is a good one",
        "example": "5f0c1f3e-8a53-4f0e-9d8b-1f5f2b7a6c11",
    }


def _named_as_pages(schema: Any) -> Any:
    """`FactPage` for pydantic's `Page_Fact_`."""
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
        return [_renamed(one, names) for one in value]
    if isinstance(value, str) and value in names:
        return f"#/components/schemas/{names[value]}"
    return value


def description() -> Described:
    """The whole description."""
    api: NinjaAPI = import_string("recall.api.api")
    return dict(api.get_openapi_schema())
