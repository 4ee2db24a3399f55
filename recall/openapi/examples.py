"""Example bodies for every API schema, assembled from one example value per field name.

A field name means the same everywhere, so its example is defined once. A field without one, or whose example doesn't
fit its schema, gets a plain value of its type. `tests/api/test_schema.py` checks each example against its schema.
"""

from collections.abc import Mapping
from typing import Any, Final

A_UUID: Final = "0b6f6a9e-3f0e-4a53-9a6a-3f2f1c8f0d21"
BY_FIELD: Final[Mapping[str, Any]] = {
    "action": "accept",
    "amount": "50000.0000",
    "at": "2026-11-21T09:30:00Z",
    "author": "You",
    "batch": None,
    "best_place": 2,
    "by_staff": False,
    "category": "person",
    "ceilings": {"profile": 5000, "history": 12000, "memories": 3000},
    "client_id": "5f0c1f3e-8a53-4f0e-9d8b-1f5f2b7a6c11",
    "confidence": 0.9,
    "content": "IyBCb3dzCg==",
    "contradicts": None,
    "conversation": A_UUID,
    "conversation_id": A_UUID,
    "cost": "0.0123",
    "cost_uncached": "0.0301",
    "counts": {"fact": 1, "message": 1},
    "created_at": "2026-11-21T09:30:00Z",
    "cut_kept_days": 90,
    "cut_rules": {"below the floor": 12},
    "day": "2026-11-21",
    "deleted": ["/projects/garden/plan"],
    "deleted_at": "2026-11-21T09:30:00.123456Z",
    "detail": "Not found.",
    "effort": "medium",
    "email": "alice@example.org",
    "excerpt": "… a cello in Cremona from a man called …",
    "ended_at": None,
    "error": "",
    "expected": "4be1c0d39a",
    "external_id": "notes/bows.md",
    "fact_id": 12,
    "fingerprint": "4be1c0d39a",
    "folder": "/reference",
    "found_again": 0,
    "free_on": "2026-11-22",
    "gone": {"fact": 1, "message": 1},
    "heading": "Person",
    "how": "asked",
    "id": 12,
    "importance": 0.6,
    "instructions": "Answer briefly, and in metric units.",
    "key": "sister",
    "kind": "person",
    "label": "The user's sister Mary lives in Lisbon.",
    "media_type": "application/pdf",
    "message_id": 55,
    "milliseconds": {"total": 14.2},
    "model": "claude-sonnet-5-5",
    "moved": 2,
    "name": "Garden",
    "next_cursor": "WyIyMDI2LTExLTIxVDA5OjMwOjAwKzAwOjAwIiwgMTJd",
    "origin": "notes",
    "outcome": "success",
    "parts": {"semantic": 0.71, "keyword": 0.4},
    "participants": ["Mary"],
    "path": "/projects/garden/plan",
    "plan": "standard",
    "precision": 0.92,
    "preferred_name": "Alice",
    "preset": "standard",
    "prefix": "rcl_ab12cd",
    "q": "garlic",
    "quote": "My sister Mary lives in Lisbon.",
    "reader": "Charlie",
    "reason": "about another person",
    "ref": "fact:12",
    "refs": ["fact:12"],
    "role": "user",
    "rule": "beyond top-K",
    "rules": {"person": "ask", "health": "never"},
    "said_by": "user",
    "scope": "/projects/garden",
    "scopes": ["memory:read"],
    "score": 0.62,
    "sentences": ["2 facts archived: faded: long unused, and of little importance."],
    "sentence": "Proposed. It isn't remembered until you accept it.",
    "significance": 0.7,
    "source": "stated",
    "standing": {"facts": 1},
    "state": "done",
    "status": "active",
    "statement": "The user's sister Mary lives in Lisbon.",
    "subject": "person",
    "such_as": "family, friends, colleagues",
    "summary": "Alice mentioned her sister Mary, who moved to Lisbon.",
    "superseded_at": None,
    "superseded_by_id": None,
    "tags": ["family"],
    "tag": "family",
    "text": "My sister Mary lives in Lisbon.",
    "time_zone": "Europe/Lisbon",
    "title": "Mary in Lisbon",
    "to": "/projects/allotment",
    "tone": "glad",
    "topics": ["sister", "Lisbon"],
    "type": "about:blank",
    "valence": 0.4,
    "valid_until": None,
    "value": "Mary, Lisbon",
    "verb": "accept",
    "when": "2026-11-21T09:30:00Z",
    "words": "Lisbon",
}
"""Field name → its example value."""
MAX_DEPTH: Final = 8
"""Nested schemas; deeper lists are empty."""
PLAIN: Final[Mapping[str, Any]] = {"integer": 1, "number": 1.5, "boolean": True, "string": "…", "null": None}
BY_FORMAT: Final[Mapping[str, str]] = {
    "date-time": "2026-11-21T09:30:00Z",
    "date": "2026-11-21",
    "uuid": A_UUID,
    "binary": "…",
}
TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def example_of(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str = "", depth: int = 0) -> Any:
    """A value that fits `schema`; `schemas`: the components; `name`: the field's name."""
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas, name, depth + 1)
    if "example" in schema:
        return schema["example"]
    known = BY_FIELD.get(name)
    if name in BY_FIELD and _fits(known, schema, schemas):
        return known
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    choices = schema.get("anyOf") or schema.get("allOf")
    if choices:
        return example_of(choices[0], schemas, name, depth)
    return _plain(schema, schemas, depth)


def _plain(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return _object(schema, schemas, depth)
    if kind == "array":
        item = example_of(schema.get("items", {}), schemas, depth=depth + 1)
        return [] if depth > MAX_DEPTH else [item] * max(1, schema.get("minItems", 0))
    if kind == "string":
        return BY_FORMAT.get(schema.get("format", ""), PLAIN["string"])
    return max(PLAIN.get(str(kind), "…"), schema.get("minimum", 0)) if kind == "integer" else PLAIN.get(str(kind))


def _object(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int) -> dict[str, Any]:
    fields = schema.get("properties", {})
    return {name: example_of(one, schemas, name, depth + 1) for name, one in fields.items()}


def _fits(value: Any, schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> bool:
    """Whether the value fits by type and choices."""
    if "$ref" in schema:
        return _fits(value, schemas[schema["$ref"].rpartition("/")[2]], schemas)
    choices = schema.get("anyOf")
    if choices:
        return any(_fits(value, choice, schemas) for choice in choices)
    if "enum" in schema:
        return value in schema["enum"]
    kind = str(schema.get("type", ""))
    if not _is_a(kind, value):
        return False
    if kind == "object":
        inner = schema.get("additionalProperties")
        is_free = isinstance(inner, dict) and "properties" not in schema
        return is_free and all(_fits(one, inner or {}, schemas) for one in value.values())
    return kind != "array" or all(_fits(one, schema.get("items", {}), schemas) for one in value)


def _is_a(kind: str, value: Any) -> bool:
    """Whether it has that JSON type; in Python a bool is also an int."""
    return isinstance(value, TYPES.get(kind, ())) and isinstance(value, bool) == (kind == "boolean")
