"""A bare relay of the SDK's stream to a socket: the baseline of `bench.turn`."""

import json
import os
from typing import Any

import anthropic

client = anthropic.AsyncAnthropic(api_key="offline", base_url=os.environ["RELAY_PROVIDER"], max_retries=0)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """An ASGI socket: a question in, deltas and `done` out; no database, no memory, no history."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        question = json.loads(event["text"])["text"]
        messages: list[Any] = [{"role": "user", "content": question}]
        async with client.messages.stream(model="claude-sonnet-5-5", max_tokens=1000, messages=messages) as stream:
            async for text in stream.text_stream:
                await send({"type": "websocket.send", "text": json.dumps({"type": "delta", "text": text})})
        await send({"type": "websocket.send", "text": json.dumps({"type": "done"})})
