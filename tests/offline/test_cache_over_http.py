"""The cache as a client of the SDK sees it: usage over several requests, pre-warming, diagnostics."""

import asyncio
from typing import Any

from anthropic import AsyncAnthropic
from anthropic.types import Message, Usage

from tests.offline.conftest import Admin
from tests.offline.requests import SEARCH, assistant, current, mark, request, text, user

Json = dict[str, Any]

LONG = "word " * 600


def conversation(question: str, *turns: str, system: str = LONG) -> Json:
    """Layout as Recall sends it: breakpoints on system and on the last history block, none on the question."""
    history: list[Json] = []
    for turn in turns:
        history += [user(turn), assistant(f"You said: {turn}")]
    if history:
        history[-1] = assistant(text(f"You said: {turns[-1]}", **mark("1h")))
    return request(*history, current(question), system=[text(system, **mark("1h"))], tools=[SEARCH])


def billed(usage: Usage) -> tuple[int, int, int]:
    """Plain, written and read tokens."""
    return usage.input_tokens, usage.cache_creation_input_tokens or 0, usage.cache_read_input_tokens or 0


async def test_the_second_turn_reads_the_first_and_writes_only_what_is_new(client: AsyncAnthropic) -> None:
    first = await client.messages.create(**conversation("I like tea."))
    second = await client.messages.create(**conversation("I like figs.", "I like tea."))
    third = await client.messages.create(**conversation("I like rain.", "I like tea.", "I like figs."))
    _, written, _ = billed(first.usage)
    assert written > 600
    assert billed(second.usage)[2] == written
    assert billed(third.usage)[2] == written + billed(second.usage)[1]
    assert 0 < billed(third.usage)[1] < 30
    assert third.usage.cache_creation
    assert third.usage.cache_creation.ephemeral_1h_input_tokens == billed(third.usage)[1]
    assert third.usage.cache_creation.ephemeral_5m_input_tokens == 0


async def test_a_stream_reports_the_cache_at_its_start_and_end(client: AsyncAnthropic) -> None:
    await client.messages.create(**conversation("I like tea."))
    async with client.messages.stream(**conversation("I like figs.")) as stream:
        async for event in stream:
            if event.type == "message_start":
                assert billed(event.message.usage)[2] > 600
        assert billed((await stream.get_final_message()).usage)[2] > 600


async def test_another_key_reads_nothing(client: AsyncAnthropic) -> None:
    await client.messages.create(**conversation("I like tea."))
    other = client.with_options(api_key="somebody else")
    assert billed((await other.messages.create(**conversation("I like tea."))).usage)[2] == 0


async def test_a_response_that_has_not_begun_shares_nothing(client: AsyncAnthropic) -> None:
    silent = {"x-offline-fault": "timeout"}
    waiting = asyncio.create_task(client.messages.create(**conversation("I like tea."), extra_headers=silent))
    await asyncio.sleep(0.2)
    answer = await client.messages.create(**conversation("I like tea."))
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert billed(answer.usage)[2] == 0


async def test_a_refused_request_leaves_nothing_in_the_cache(client: AsyncAnthropic, admin: Admin) -> None:
    admin.fault("overloaded")
    refused = asyncio.create_task(client.messages.create(**conversation("I like tea.")))
    await asyncio.gather(refused, return_exceptions=True)
    assert billed((await client.messages.create(**conversation("I like tea."))).usage)[2] == 0


async def test_a_request_for_no_tokens_warms_the_cache(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "not for this"})
    warmed = await client.messages.create(**conversation("-") | {"max_tokens": 0})
    assert warmed.content == []
    assert warmed.usage.output_tokens == 0
    assert warmed.stop_reason == "max_tokens"
    answer = await client.messages.create(**conversation("I like tea."))
    assert billed(answer.usage)[2] == billed(warmed.usage)[1] > 600


async def diagnosed(client: AsyncAnthropic, previous: Message | str, body: Json) -> str | None:
    """The reason the provider gives for not reusing the previous request's prefix."""
    name = previous if isinstance(previous, str) else previous.id
    answer = await client.messages.create(**body, diagnostics={"previous_message_id": name})
    reason = answer.diagnostics.cache_miss_reason if answer.diagnostics else None
    return reason.type if reason else None


async def test_diagnostics_name_what_changed(client: AsyncAnthropic) -> None:
    body = conversation("I like tea.")
    first = await client.messages.create(**body, diagnostics={"previous_message_id": None})
    assert first.diagnostics is None
    grown = {**body, "messages": [*body["messages"], assistant("x"), user("y")]}
    assert await diagnosed(client, first, grown) is None
    assert await diagnosed(client, first, {**body, "model": "claude-haiku-5-5"}) == "model_changed"
    assert await diagnosed(client, first, {**body, "tools": []}) == "tools_changed"
    assert await diagnosed(client, first, conversation("I like tea.", system="x")) == "system_changed"
    assert await diagnosed(client, first, conversation("I like figs.")) == "messages_changed"
    assert await diagnosed(client, first, {**body, "output_config": {"effort": "low"}}) == "unavailable"
    assert await diagnosed(client, "msg_unknown", body) == "previous_message_not_found"
    assert await diagnosed(client.with_options(api_key="other"), first, body) == "previous_message_not_found"


async def test_diagnostics_tell_how_much_was_missed(client: AsyncAnthropic) -> None:
    body = conversation("I like tea.")
    first = await client.messages.create(**body)
    answer = await client.messages.create(
        **conversation("I like tea.", system="x"), diagnostics={"previous_message_id": first.id}
    )
    assert answer.diagnostics
    reason = answer.diagnostics.cache_miss_reason
    assert reason
    assert reason.type == "system_changed"
    assert reason.cache_missed_input_tokens == sum(billed(first.usage))
