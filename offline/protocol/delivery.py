"""Delivery of a message: word by word at the server's pace, with requested faults, stopped when the client leaves."""

import asyncio
import json
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from offline.errors import ApiError
from offline.faults import Fault
from offline.protocol.stream import Frame, Json, error_frame, frames
from offline.request_log import Record

EVENT_STREAM = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
JSON_TYPE = (b"content-type", b"application/json")


class Delivery(Response):
    """An ASGI response that creates its body while sending it. `begin` is called when the answer starts."""

    def __init__(
        self, message: Json, *, stream: bool, delay: float, fault: Fault, record: Record, begin: Callable[[], None]
    ) -> None:
        super().__init__()
        self.message = message
        self.stream = stream
        self.delay = float(fault.argument) if fault.name == "slow" else delay
        self.fault = fault
        self.record = record
        self.begin = begin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until done or until the client disconnects, whichever comes first."""
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_client_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
            else:
                self.record.outcome = "cancelled"
        finally:
            sending.cancel()
            leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        if self.fault.name == "timeout":
            await asyncio.Event().wait()  # until the client gives up
        self.begin()
        self.record.message_id = self.message["id"]
        self.record.usage = self.message["usage"]
        await (self._send_stream(send) if self.stream else self._send_whole(send))

    async def _send_stream(self, send: Send) -> None:
        events = list(frames(self.message))
        strike = _fault_index(events, self.fault)
        await send(_start([*EVENT_STREAM, self._request_id()]))
        for number, frame in enumerate(events):
            if number == strike:
                await self._cut_off(send)
                return
            await send(_part(frame.data))
            if frame.delta:
                self.record.deltas += 1
                await asyncio.sleep(self.delay)
        await send(_part(b"", last=True))
        self._done()

    async def _send_whole(self, send: Send) -> None:
        """Send the answer in one piece, after as long as streaming would have taken."""
        words = sum(frame.delta for frame in frames(self.message))
        await asyncio.sleep(self.delay * words)
        body = json.dumps(self.message).encode()
        await send(_start([JSON_TYPE, (b"content-length", str(len(body)).encode()), self._request_id()]))
        if self.fault.name == "broken_connection":
            await send(_part(body[: len(body) // 2]))
            self.record.outcome = "broken"
            return  # the ASGI server closes a connection whose response wasn't completed
        await send(_part(body, last=True))
        self._done()

    async def _cut_off(self, send: Send) -> None:
        if self.fault.name == "broken_connection":
            self.record.outcome = "broken"
            return  # as above
        self.record.outcome = "error:200"
        error = ApiError(529, "Overloaded")
        error.request_id = self.record.request_id
        await send(_part(error_frame(error), last=True))

    def _done(self) -> None:
        self.record.outcome = "complete"
        self.record.stop_reason = self.message["stop_reason"]

    def _request_id(self) -> tuple[bytes, bytes]:
        return b"request-id", self.record.request_id.encode()


def _fault_index(events: list[Frame], fault: Fault) -> int | None:
    """The index of the event that the fault replaces: after a number of deltas, or that of message_delta."""
    if fault.name not in ("mid_stream_error", "broken_connection"):
        return None
    deltas = [number for number, frame in enumerate(events) if frame.delta]
    after = int(fault.argument)
    return deltas[after] if after < len(deltas) else len(events) - 2


async def _client_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _start(headers: list[tuple[bytes, bytes]]) -> Message:
    return {"type": "http.response.start", "status": 200, "headers": headers}


def _part(body: bytes, *, last: bool = False) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": not last}
