"""What tests may set and see, and that no one else can."""

from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic

from offline.messages import Offline
from tests.offline.conftest import Admin
from tests.offline.requests import request, said, user


async def test_scripted_replies_answer_in_turn_and_then_the_responder_does(
    client: AsyncAnthropic, admin: Admin
) -> None:
    admin.script({"text": "first"}, {"text": "second"})
    answers = [said(await client.messages.create(**request())) for _ in range(3)]
    assert answers[:2] == ["first", "second"]
    assert answers[2].startswith("Hello")


async def test_a_scripted_reply_waits_for_its_question(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"match": "tea", "text": "about tea"}, {"text": "about anything"})
    assert said(await client.messages.create(**request(user("coffee?")))) == "about anything"
    assert said(await client.messages.create(**request(user("or tea?")))) == "about tea"


async def test_a_script_can_ask_for_a_stop_reason(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "one two three four", "stop_reason": "refusal"})
    assert (await client.messages.create(**request())).stop_reason == "refusal"


@pytest.mark.parametrize(
    "wrong", ["text", [], [{}], [{"txt": "x"}], [{"tools": [{"name": "x"}]}], [{"text": "x"}, {"match": "only"}]]
)
def test_a_wrong_script_is_refused_whole(admin: Admin, wrong: Any) -> None:
    refused = admin.http.post("/script", json={"replies": wrong})
    assert refused.status_code == (200 if wrong == [] else 400)
    assert admin.http.get("/script").json() == {"replies": []}


async def test_the_log_shows_what_was_sent_and_what_it_cost(client: AsyncAnthropic, admin: Admin) -> None:
    asked = request(user("Hello"), metadata={"user_id": "someone@example.org"})
    answer = await client.messages.create(**asked)
    record = admin.last()
    assert record["body"] == asked
    assert record["path"] == "/v1/messages"
    assert record["usage"]["input_tokens"] == answer.usage.input_tokens
    assert record["request_id"] == answer._request_id


def test_the_log_shows_refused_requests_under_the_id_they_were_answered_with(admin: Admin, raw: httpx2.Client) -> None:
    refused = raw.post("/v1/messages", json={"model": "claude-sonnet-5-5"})
    assert admin.last()["outcome"] == "error:400"
    assert admin.last()["request_id"] == refused.json()["request_id"] == refused.headers["request-id"]


def test_the_log_keeps_the_last_two_hundred(admin: Admin, raw: httpx2.Client) -> None:
    for number in range(205):
        raw.post("/v1/messages/count_tokens", json={"model": "claude-sonnet-5-5", "messages": [user(f"n {number}")]})
    kept = [record["body"]["messages"][0]["content"][0]["text"] for record in admin.requests()]
    assert kept == [f"n {number}" for number in range(5, 205)]


@pytest.mark.parametrize("path", ["/offline/faults", "/offline/script", "/offline/requests"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_without_the_setting_there_are_no_admin_calls(closed_url: str, path: str, method: str) -> None:
    answer = httpx2.request(method, f"{closed_url}{path}", json={})
    assert answer.status_code in (404, 405)
    assert answer.json()["type"] == "error"


def test_the_server_says_that_it_is_alive_and_no_language_model(closed_url: str) -> None:
    answer = httpx2.get(f"{closed_url}/healthz")
    assert answer.json() == {"status": "ok", "server": "recall-offline", "language_model": False}


def test_an_unknown_path_is_refused_in_the_providers_shape(raw: httpx2.Client) -> None:
    answer = raw.post("/v1/messages/batches", json={})
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "not_found_error"


@pytest.mark.parametrize(("given", "seconds"), [({}, 0.015), ({"OFFLINE_DELTA_DELAY": "0"}, 0.0)])
def test_the_pause_between_words_is_a_setting(given: dict[str, str], seconds: float) -> None:
    assert Offline(given).delta_delay == seconds


@pytest.mark.parametrize("wrong", ["soon", "-1", "nan", "1000"])
def test_a_wrong_pause_is_named_at_start(wrong: str) -> None:
    with pytest.raises(ValueError, match="OFFLINE_DELTA_DELAY needs a number of seconds"):
        Offline({"OFFLINE_DELTA_DELAY": wrong})
