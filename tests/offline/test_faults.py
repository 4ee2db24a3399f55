"""Every failure can be requested, by header or admin call, and looks to the SDK like the provider's."""

import asyncio
import time
from typing import get_args

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import StopReason
from anthropic.types.shared import EnforcedSpendLimitReachedError, ErrorType

from offline.errors import ERROR_TYPES
from offline.faults import STOP_REASONS, parse_fault
from tests.offline.conftest import Admin
from tests.offline.requests import request, said, user


def with_fault(client: AsyncAnthropic, fault: str) -> AsyncAnthropic:
    return client.with_options(default_headers={"x-offline-fault": fault})


async def listen(client: AsyncAnthropic, heard: list[str]) -> None:
    """Stream an answer, word by word into `heard`."""
    async with client.messages.stream(**request()) as stream:
        async for word in stream.text_stream:
            heard += [word]


@pytest.mark.parametrize(
    ("fault", "error", "status", "kind"),
    [
        ("rate_limit:7", anthropic.RateLimitError, 429, "rate_limit_error"),
        ("overloaded", anthropic.OverloadedError, 529, "overloaded_error"),
        ("spend_limit", EnforcedSpendLimitReachedError, 429, "rate_limit_error"),
        ("unauthorized", anthropic.AuthenticationError, 401, "authentication_error"),
        ("server_error", anthropic.InternalServerError, 500, "api_error"),
    ],
)
@pytest.mark.parametrize("streaming", [False, True])
async def test_an_error_on_demand_is_the_sdks_own_class(
    client: AsyncAnthropic, fault: str, error: type[anthropic.APIStatusError], status: int, kind: str, streaming: bool
) -> None:
    with pytest.raises(error) as raised:
        await with_fault(client, fault).messages.create(**request(stream=streaming))
    assert raised.value.status_code == status
    assert raised.value.type == kind
    assert raised.value.request_id


async def test_a_rate_limit_says_when_to_come_back_and_a_spend_limit_does_not(client: AsyncAnthropic) -> None:
    with pytest.raises(anthropic.RateLimitError) as limited:
        await with_fault(client, "rate_limit:7").messages.create(**request())
    assert limited.value.response.headers["retry-after"] == "7"
    assert limited.value.error_code is None
    with pytest.raises(anthropic.RateLimitError) as spent:
        await with_fault(client, "spend_limit").messages.create(**request())
    assert "retry-after" not in spent.value.response.headers
    assert spent.value.error_code == "enforced_spend_limit_reached"


async def test_the_sdk_tries_an_overloaded_server_three_times(client: AsyncAnthropic, admin: Admin) -> None:
    admin.fault("overloaded", times=5)
    patient = client.with_options(max_retries=2)
    with pytest.raises(anthropic.OverloadedError):
        await patient.messages.create(**request())
    assert [record["outcome"] for record in admin.requests()] == ["error:529"] * 3


async def test_the_sdk_gets_its_answer_when_a_fault_passes(client: AsyncAnthropic, admin: Admin) -> None:
    admin.fault("rate_limit:0", times=2)
    answer = await client.with_options(max_retries=2).messages.create(**request())
    assert said(answer)
    assert [record["outcome"] for record in admin.requests()] == ["error:429", "error:429", "complete"]


async def test_an_error_in_mid_stream_comes_after_so_many_words_and_is_not_retried(
    client: AsyncAnthropic, admin: Admin
) -> None:
    admin.fault("mid_stream_error:3", times=3)
    admin.script({"text": "one two three four five"})
    heard: list[str] = []
    with pytest.raises(anthropic.APIStatusError) as raised:
        await listen(client.with_options(max_retries=2), heard)
    assert heard == ["one ", "two ", "three "]
    assert raised.value.status_code == 200
    assert raised.value.type == "overloaded_error"
    assert not isinstance(raised.value, anthropic.OverloadedError)
    assert len(admin.requests()) == 1


async def test_a_short_answer_still_breaks_before_it_is_complete(client: AsyncAnthropic, admin: Admin) -> None:
    admin.fault("mid_stream_error:99")
    admin.script({"text": "one two"})
    with pytest.raises(anthropic.APIStatusError):
        await listen(client, [])
    assert admin.last()["deltas"] == 2


async def test_a_connection_breaks_after_so_many_words(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "one two three four five"})
    heard: list[str] = []
    with pytest.raises((httpx2.HTTPError, anthropic.APIConnectionError)):
        await listen(with_fault(client, "broken_connection:2"), heard)
    assert heard == ["one ", "two "]
    assert admin.last()["outcome"] == "broken"


async def test_a_connection_breaks_without_streaming_too(client: AsyncAnthropic, admin: Admin) -> None:
    with pytest.raises((httpx2.HTTPError, anthropic.APIConnectionError)):
        await with_fault(client, "broken_connection").messages.create(**request())
    assert admin.last()["outcome"] == "broken"


async def test_a_slow_stream_pauses_between_words(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "one two three"})
    started = time.monotonic()
    async with with_fault(client, "slow:0.1").messages.stream(**request()) as stream:
        await stream.get_final_message()
    assert 0.3 <= time.monotonic() - started < 3


@pytest.mark.parametrize("reason", STOP_REASONS)
async def test_an_answer_stops_half_way_for_the_reason_asked_for(
    client: AsyncAnthropic, admin: Admin, reason: str
) -> None:
    admin.script({"text": "one two three four five six seven eight"})
    answer = await with_fault(client, f"stop_reason:{reason}").messages.create(**request())
    assert answer.stop_reason == reason
    assert said(answer).startswith("one ")
    assert "eight" not in said(answer)
    assert (answer.stop_details is not None) == (reason == "refusal")


async def test_a_server_that_never_answers_lets_the_client_time_out(client: AsyncAnthropic, admin: Admin) -> None:
    with pytest.raises(anthropic.APITimeoutError):
        await with_fault(client, "timeout").messages.create(**request(), timeout=0.3)
    for _ in range(100):
        if admin.last()["outcome"] == "cancelled":
            break
        await asyncio.sleep(0.02)
    assert admin.last()["outcome"] == "cancelled"
    assert admin.last()["usage"] is None


async def test_a_fault_strikes_only_the_question_it_matches_and_only_so_often(
    client: AsyncAnthropic, admin: Admin
) -> None:
    admin.fault("server_error", match="tea", times=1)
    assert said(await client.messages.create(**request(user("I like coffee"))))
    with pytest.raises(anthropic.InternalServerError):
        await client.messages.create(**request(user("I like tea")))
    assert said(await client.messages.create(**request(user("I like tea"))))


async def test_a_fault_can_be_meant_for_counting(client: AsyncAnthropic, admin: Admin) -> None:
    admin.fault("server_error", path="/v1/messages/count_tokens")
    assert said(await client.messages.create(**request()))
    with pytest.raises(anthropic.InternalServerError):
        await client.messages.count_tokens(model="claude-sonnet-5-5", messages=[user("Hello")])  # type: ignore[list-item]


async def test_deleted_faults_do_not_strike(client: AsyncAnthropic, admin: Admin) -> None:
    admin.fault("server_error", times=3)
    assert admin.http.get("/faults").json()["faults"][0]["times"] == 3
    admin.http.delete("/faults")
    assert said(await client.messages.create(**request()))


@pytest.mark.parametrize(
    "wrong",
    ["", "sunshine", "stop_reason", "stop_reason:boredom", "slow:soon", "mid_stream_error:1.5", "rate_limit:-1"],
)
def test_a_wrong_fault_is_refused_with_a_sentence(admin: Admin, raw: httpx2.Client, wrong: str) -> None:
    with pytest.raises(ValueError, match=r"fault|needs"):
        parse_fault(wrong)
    refused = admin.fault(wrong)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"]
    if wrong:
        assert raw.post("/v1/messages", json=request(), headers={"x-offline-fault": wrong}).status_code == 400


def test_the_names_used_here_are_the_sdks() -> None:
    assert set(STOP_REASONS) <= set(get_args(StopReason))
    assert set(ERROR_TYPES.values()) - {"request_too_large"} <= set(get_args(ErrorType))
