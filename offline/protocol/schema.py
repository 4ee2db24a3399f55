"""Structured output: validation of JSON schemas, and the smallest instance of a schema.

An unscripted request for structured output gets that instance: it is valid but meaningless, so no one mistakes it for
an extraction.
"""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

# Limits of the provider's structured outputs.
MAX_OPTIONAL = 24
MAX_UNIONS = 16
UNSUPPORTED = {
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems"),
}
NAMED = ("properties", "$defs", "definitions")  # keywords that contain schemas by name
LISTED = ("anyOf", "allOf", "oneOf", "prefixItems")  # keywords that contain a list of schemas
SHAPES: dict[str, type] = dict.fromkeys(NAMED, dict) | dict.fromkeys((*LISTED, "required", "enum"), list)
TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
SIMPLE = {"string": "", "integer": 0, "number": 0, "boolean": False, "null": None}
FORMATTED = {
    "date": "1970-01-01",
    "time": "00:00:00Z",
    "date-time": "1970-01-01T00:00:00Z",
    "duration": "P0D",
    "email": "nobody@example.org",
    "hostname": "example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "00000000-0000-0000-0000-000000000000",
}


def schema_problem(schema: Json) -> str | None:
    """Why the provider would refuse this schema, or None."""
    nodes = list(_nodes(schema))
    problem = malformed(schema) or next(filter(None, map(_node_problem, nodes)), None)
    if problem:
        return problem
    missing = [node["$ref"] for node in nodes if "$ref" in node and _resolve(node["$ref"], schema) is None]
    if missing:
        return f"{missing[0]!r} cannot be resolved"
    optional = sum(name not in node.get("required", []) for node in nodes for name in node.get("properties", {}))
    if optional > MAX_OPTIONAL:
        return f"Schemas may have at most {MAX_OPTIONAL} optional parameters. Found {optional}."
    unions = sum("anyOf" in node or isinstance(node.get("type"), list) for node in nodes)
    if unions > MAX_UNIONS:
        return f"Schemas may have at most {MAX_UNIONS} parameters with union types. Found {unions}."
    return None


def _node_problem(node: Json) -> str | None:
    kind = node.get("type")
    if kind == "object" and node.get("additionalProperties") is not False:
        return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    if kind == "array" and node.get("minItems", 0) not in (0, 1):
        return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    banned = [key for key in UNSUPPORTED.get(str(kind), ()) if key in node]
    return f"For '{kind}' type, property '{banned[0]}' is not supported" if banned else None


def malformed(schema: Json) -> str | None:
    """Why this isn't a JSON schema at all, or None."""
    return next(filter(None, map(_malformed, _nodes(schema))), None)


def _malformed(node: Json) -> str | None:
    for key, shape in SHAPES.items():
        if not isinstance(node.get(key, shape()), shape):
            return f"'{key}' is not a valid {'object' if shape is dict else 'list'}"
    children = [node["items"]] if "items" in node else []
    children += [child for key in NAMED for child in node.get(key, {}).values()]
    children += [child for key in LISTED for child in node.get(key, [])]
    if not all(isinstance(child, (dict, bool)) for child in children):
        return "a schema is an object, true or false"
    if not all(isinstance(name, str) for name in node.get("required", [])):
        return "'required' is not a list of names"
    kinds = node.get("type", ["object"])
    unknown = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind not in TYPES]
    if unknown or kinds == [] or node.get("enum") == []:
        return f"{unknown[0]!r} is not a valid type" if unknown else "'type' and 'enum' must not be empty"
    return None


def _nodes(schema: Any) -> Iterator[Json]:
    """Every schema inside a schema, itself first. Literal values under enum, const and default aren't schemas."""
    if not isinstance(schema, dict):
        return
    yield schema
    children = [schema.get("items")]
    children += [child for key in NAMED if isinstance(schema.get(key), dict) for child in schema[key].values()]
    children += [child for key in LISTED if isinstance(schema.get(key), list) for child in schema[key]]
    for child in children:
        yield from _nodes(child)


def minimal_instance(schema: Json | bool | None, root: Json | None = None) -> Any:
    """The smallest value an accepted schema allows: required properties only, empty lists, null where possible."""
    if not isinstance(schema, dict):
        return None  # the schema `true`, or none: any value is valid
    root = schema if root is None else root
    if "$ref" in schema:
        return minimal_instance(_resolve(schema["$ref"], root), root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for union in ("anyOf", "oneOf", "allOf"):
        if schema.get(union):
            return minimal_instance(_smallest(schema[union]), root)
    return _minimal_of_type(schema, root)


def _minimal_of_type(schema: Json, root: Json) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    if isinstance(kind, list):
        kind = "null" if "null" in kind else kind[0]
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: minimal_instance(properties.get(name), root) for name in schema.get("required", [])}
    if kind == "array":
        return [minimal_instance(schema.get("items"), root) for _ in range(schema.get("minItems") == 1)]
    if kind == "string":
        return FORMATTED.get(str(schema.get("format")), "")
    return SIMPLE[kind]


def _smallest(options: list[Json | bool]) -> Json | bool:
    nulls = (option for option in options if isinstance(option, dict) and option.get("type") == "null")
    return next(nulls, options[0])


def _resolve(ref: Any, root: Json) -> Json | None:
    """The schema that a local reference such as `#/$defs/Fact` names; None if there is none."""
    node: Any = root
    for part in str(ref).removeprefix("#").strip("/").split("/"):
        node = node.get(part) if isinstance(node, dict) and part else node
    return node if isinstance(node, dict) else None
