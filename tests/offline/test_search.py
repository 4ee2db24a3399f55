"""The fake search server speaks SearXNG's JSON, and the responder searches for what is new, with either tool."""

import json
from collections.abc import Iterator

import httpx2
import pytest
from anthropic import AsyncAnthropic

from tests.offline.conftest import PLAIN, Admin
from tests.offline.requests import CLOCK, Json, assistant, call, current, request, result, said, user

WEB = {"name": "web_search", "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}}}
SERVER = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
NEWS = "What is the latest release of Django?"
PAGE = {"title": "Django 6.1.3", "url": "https://example.org/django", "content": "Django 6.1.3 is the latest release."}


@pytest.fixture
def searching(admin: Admin, offline_url: str) -> Iterator[httpx2.Client]:
    """A client of the search, without prepared pages."""
    admin.http.delete("/pages").raise_for_status()
    with httpx2.Client(base_url=offline_url, verify=PLAIN) as http:
        yield http
    admin.http.delete("/pages").raise_for_status()


def found(http: httpx2.Client, query: str) -> list[Json]:
    answer = http.get("/searxng/search", params={"q": query, "format": "json"}).raise_for_status().json()
    assert {"query", "results", "answers", "suggestions", "unresponsive_engines"} <= answer.keys()
    results: list[Json] = answer["results"]
    return results


def test_without_prepared_pages_it_says_that_nothing_was_looked_up(searching: httpx2.Client) -> None:
    (page,) = found(searching, "the moon")
    assert "looked nothing up on the web for “the moon”" in page["content"]


def test_a_prepared_page_is_found_by_its_words_only(searching: httpx2.Client, admin: Admin) -> None:
    admin.http.post("/pages", json={"pages": [{**PAGE, "match": "Django"}]}).raise_for_status()
    assert [page["url"] for page in found(searching, "latest Django")] == [PAGE["url"]]
    assert found(searching, "the moon") == []


def test_a_form_is_read_as_well_as_an_address(searching: httpx2.Client) -> None:
    answer = searching.post("/searxng/search", data={"q": "the moon", "format": "json"})
    assert answer.json()["query"] == "the moon"


@pytest.mark.parametrize("asked", [{"q": "the moon"}, {"q": "the moon", "format": "rss"}])
def test_other_formats_are_forbidden(searching: httpx2.Client, asked: dict[str, str]) -> None:
    assert searching.get("/searxng/search", params=asked).status_code == 403


@pytest.mark.parametrize("pages", ["x", [1], [{"title": "a", "url": "b"}], [{**PAGE, "more": "x"}]])
def test_a_wrong_page_is_refused(searching: httpx2.Client, admin: Admin, pages: object) -> None:
    assert admin.http.post("/pages", json={"pages": pages}).status_code == 400
    assert admin.http.get("/pages").json() == {"pages": []}


def test_an_error_can_be_ordered_for_a_search(searching: httpx2.Client, admin: Admin) -> None:
    admin.fault("server_error", path="/searxng/search", match="moon").raise_for_status()
    asked = {"q": "the moon", "format": "json"}
    assert [searching.get("/searxng/search", params=asked).status_code for _ in range(2)] == [500, 200]


async def test_what_is_new_is_searched_for_and_answered_with_its_source(client: AsyncAnthropic) -> None:
    asked = request(current(NEWS), tools=[WEB])
    first = await client.messages.create(**asked)
    (search,) = [block for block in first.content if block.type == "tool_use"]
    assert (search.name, search.input) == ("web_search", {"query": NEWS})
    results = {"results": [{"text": PAGE["content"], "title": PAGE["title"], "url": PAGE["url"]}]}
    asked["messages"] += [first.to_param(), user(result(json.dumps(results), search.id))]
    answer = said(await client.messages.create(**asked))
    assert answer.startswith("Django 6.1.3 is the latest release.")
    assert "From the web" in answer
    assert PAGE["url"] in answer


@pytest.mark.parametrize(
    "question", ["What is my latest goal?", "Where does my sister live?", "What did we decide about the news page?"]
)
async def test_what_is_the_persons_own_is_not_searched_for_on_the_web(client: AsyncAnthropic, question: str) -> None:
    answer = await client.messages.create(**request(current(question), tools=[WEB]))
    assert not [block for block in answer.content if block.type == "tool_use"]


async def test_without_the_tool_nothing_is_searched_for(client: AsyncAnthropic) -> None:
    answer = await client.messages.create(**request(current(NEWS)))
    assert {block.type for block in answer.content} == {"text"}


async def test_the_providers_own_tool_searches_within_the_answer(client: AsyncAnthropic) -> None:
    answer = await client.messages.create(**request(current(NEWS), tools=[SERVER]))
    search, pages = answer.content[:2]
    assert search.type == "server_tool_use"
    assert search.input == {"query": NEWS}
    assert pages.type == "web_search_tool_result"
    assert pages.tool_use_id == search.id
    assert answer.stop_reason == "end_turn"
    assert answer.usage.server_tool_use is not None
    assert answer.usage.server_tool_use.web_search_requests == 1
    assert "looked nothing up" in said(answer)


async def test_a_search_streams_to_the_same_message(client: AsyncAnthropic) -> None:
    asked = request(current(NEWS), tools=[SERVER])
    whole = await client.messages.create(**asked)
    async with client.messages.stream(**asked) as stream:
        streamed = await stream.get_final_message()
    assert [block.to_dict() for block in streamed.content] == [block.to_dict() for block in whole.content]


async def test_what_a_search_found_may_come_back_unchanged(client: AsyncAnthropic) -> None:
    asked = request(current(NEWS), tools=[SERVER])
    first = await client.messages.create(**asked)
    asked["messages"] += [first.to_param(), user("Thank you")]
    assert (await client.messages.create(**asked)).stop_reason == "end_turn"


STRAY = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
UNSEALED = {**STRAY, "content": [{"type": "web_search_result", "title": "a", "url": "b"}]}


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [((STRAY,), "corresponding `server_tool_use`"), ((SEARCH, UNSEALED), "encrypted_content: Field required")],
)
def test_what_a_search_found_must_be_whole(raw: httpx2.Client, blocks: tuple[Json, ...], complaint: str) -> None:
    asked = request(user("a"), assistant(*blocks), user("b"), tools=[SERVER])
    answer = raw.post("/v1/messages", json=asked)
    assert answer.status_code == 400
    assert complaint in answer.json()["error"]["message"]


async def test_what_update_task_answers_is_reported_as_it_is(client: AsyncAnthropic) -> None:
    turn = [user(CLOCK, "Note the plan"), assistant(call("update_task", {})), user(result('{"outcome": "Noted."}'))]
    assert said(await client.messages.create(**request(*turn, tools=[{**WEB, "name": "update_task"}]))) == "Noted."
