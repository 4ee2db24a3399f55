"""Structured output is a scripted answer, or else the smallest instance of the schema; it isn't an extraction."""

import json
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from pydantic import BaseModel

from offline.protocol.schema import minimal_instance
from tests.offline.conftest import Admin
from tests.offline.requests import request, said, user


class Fact(BaseModel):
    statement: str
    confidence: float


class Extraction(BaseModel):
    facts: list[Fact]
    episode: str | None


async def test_a_scripted_answer_is_given_to_the_request_it_matches(client: AsyncAnthropic, admin: Admin) -> None:
    prepared = {"facts": [{"statement": "The user likes tea.", "confidence": 0.9}], "episode": None}
    admin.script({"match": "coffee", "json": {"facts": [], "episode": "x"}}, {"match": "tea", "json": prepared})
    answer = await client.messages.parse(**request(user("I like tea")), output_format=Extraction)
    assert answer.parsed_output == Extraction(
        facts=[Fact(statement="The user likes tea.", confidence=0.9)], episode=None
    )


async def test_an_unscripted_answer_is_valid_and_empty(client: AsyncAnthropic) -> None:
    answer = await client.messages.parse(**request(user("I like tea")), output_format=Extraction)
    assert answer.parsed_output == Extraction(facts=[], episode=None)


async def test_a_scripted_chat_answer_is_not_taken_by_an_extraction(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "for the chat"}, {"json": {"facts": [], "episode": "for the librarian"}})
    extraction = await client.messages.parse(**request(), output_format=Extraction)
    assert extraction.parsed_output
    assert extraction.parsed_output.episode == "for the librarian"
    assert said(await client.messages.create(**request())) == "for the chat"


async def test_structured_output_streams(client: AsyncAnthropic) -> None:
    async with client.messages.stream(**request(), output_format=Extraction) as streamed:
        final = await streamed.get_final_message()
    assert json.loads(said(final)) == {"facts": [], "episode": None}


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        (
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]},
            {"b": 0},
        ),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 1}, [False]),
        ({"enum": ["person", "place"]}, "person"),
        ({"const": 7}, 7),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ({"type": ["string", "null"]}, None),
        ({"type": "string", "format": "date"}, "1970-01-01"),
        (
            {
                "$ref": "#/$defs/F",
                "$defs": {"F": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}},
            },
            {"n": 0},
        ),
        ({"type": "object", "properties": {"x": True}, "required": ["x"]}, {"x": None}),
    ],
)
def test_the_smallest_instance_of_a_schema(schema: dict[str, Any], instance: Any) -> None:
    assert minimal_instance(schema) == instance
