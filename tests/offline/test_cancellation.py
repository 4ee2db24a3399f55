"""A client that disconnects stops its answer at once, and the log says so: Stop depends on this."""

import asyncio
from typing import Any

from anthropic import AsyncAnthropic

from tests.offline.conftest import Admin
from tests.offline.requests import request

SLOW = {"x-offline-fault": "slow:0.05"}


async def outcome(admin: Admin) -> dict[str, Any]:
    """The last request's record once it is no longer running."""
    for _ in range(100):
        record = admin.last()
        if record["outcome"] != "running":
            return record
        await asyncio.sleep(0.02)
    raise AssertionError("the request is still running")


async def test_closing_a_stream_stops_it_and_counts_what_was_sent(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "word " * 200})
    heard = 0
    async with client.messages.stream(**request(), extra_headers=SLOW) as stream:
        async for _ in stream.text_stream:
            heard += 1
            if heard == 3:
                break
    record = await outcome(admin)
    assert record["outcome"] == "cancelled"
    assert 3 <= record["deltas"] <= 6
    assert record["usage"]["input_tokens"] > 0
    assert record["stop_reason"] is None


async def test_cancelling_the_task_that_listens_stops_the_answer(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "word " * 200})
    started = asyncio.Event()

    async def listen() -> None:
        async with client.messages.stream(**request(), extra_headers=SLOW) as stream:
            async for _ in stream.text_stream:
                started.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(started.wait(), 5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    record = await outcome(admin)
    assert record["outcome"] == "cancelled"
    assert record["deltas"] < 20


async def test_an_answer_without_streaming_is_cancelled_too(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "word " * 200})
    task = asyncio.create_task(client.messages.create(**request(), extra_headers=SLOW))
    await asyncio.sleep(0.2)
    assert admin.last()["outcome"] == "running"
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (await outcome(admin))["outcome"] == "cancelled"


async def test_a_stream_heard_to_its_end_is_complete(client: AsyncAnthropic, admin: Admin) -> None:
    async with client.messages.stream(**request()) as stream:
        final = await stream.get_final_message()
    record = await outcome(admin)
    assert record["outcome"] == "complete"
    assert record["stop_reason"] == "end_turn"
    assert record["message_id"] == final.id
    assert record["usage"]["output_tokens"] == final.usage.output_tokens
