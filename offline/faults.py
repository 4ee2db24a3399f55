"""Faults that a test can request, by header `x-offline-fault: NAME[:ARGUMENT]` or through `POST /offline/faults`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from offline.errors import ApiError

# Sent instead of a message, before anything is streamed.
ERRORS: dict[str, Callable[[str], ApiError]] = {
    "rate_limit": lambda seconds: ApiError(
        429, "This request would exceed the rate limit for your organization.", headers={"retry-after": seconds}
    ),
    "overloaded": lambda _: ApiError(529, "Overloaded"),
    "spend_limit": lambda _: ApiError(
        429,
        "You have reached your specified API usage limits.",
        error_code="enforced_spend_limit_reached",
    ),
    "bad_request": lambda message: ApiError(400, message),
    "unauthorized": lambda _: ApiError(401, "Invalid bearer token"),
    "server_error": lambda _: ApiError(500, "Internal server error"),
}
# Disturb the answer while it is sent: after a number of deltas, or with a number of seconds between two.
DISTURBANCES = frozenset({"mid_stream_error", "broken_connection", "slow", "stop_reason", "timeout"})
DEFAULT_ARGUMENT = {"rate_limit": "1", "mid_stream_error": "5", "broken_connection": "5", "slow": "1"}
STOP_REASONS = ("max_tokens", "refusal", "pause_turn", "model_context_window_exceeded")

MESSAGES_PATH = "/v1/messages"


@dataclass(frozen=True, slots=True)
class Fault:
    """One requested failure. `argument` is checked when it is parsed."""

    name: str
    argument: str = ""

    def error(self) -> ApiError | None:
        """The error this fault answers with; None if it disturbs the answer instead."""
        make = ERRORS.get(self.name)
        return make(self.argument) if make else None


NO_FAULT = Fault("none")


def parse_fault(text: str) -> Fault:
    """Parse `NAME[:ARGUMENT]`; raises ValueError with a sentence for the caller."""
    name, _, argument = text.strip().partition(":")
    if name not in ERRORS.keys() | DISTURBANCES:
        raise ValueError(f"unknown fault {name!r}; known are {', '.join(sorted(ERRORS.keys() | DISTURBANCES))}")
    argument = argument or DEFAULT_ARGUMENT.get(name, "")
    if name == "stop_reason":
        if argument not in STOP_REASONS:
            raise ValueError(f"stop_reason needs one of {', '.join(STOP_REASONS)}")
    elif name in DEFAULT_ARGUMENT:
        _check_number(name, argument)
    return Fault(name, argument)


def _check_number(name: str, argument: str) -> None:
    whole = name in ("mid_stream_error", "broken_connection")
    try:
        value = int(argument) if whole else float(argument)
    except ValueError:
        value = -1
    if not 0 <= value < 86_400:
        raise ValueError(f"{name} needs a {'whole number' if whole else 'number of seconds'} from 0, not {argument!r}")


@dataclass(slots=True)
class Waiting:
    """A fault for the next `times` requests to `path` whose question contains `match`."""

    fault: Fault
    times: int
    match: str
    path: str


@dataclass(slots=True)
class FaultQueue:
    """Faults set through the admin endpoint, oldest first."""

    waiting: list[Waiting] = field(default_factory=list)

    def add(self, body: dict[str, Any]) -> None:
        """Add a fault from the body of `POST /offline/faults`; raises ValueError if it is invalid."""
        times = body.get("times", 1)
        if not isinstance(times, int) or times < 1:
            raise ValueError("times needs a whole number from 1")
        fault = parse_fault(str(body.get("fault") or ""))
        match, path = str(body.get("match") or ""), str(body.get("path") or MESSAGES_PATH)
        self.waiting.append(Waiting(fault, times, match, path))

    def take(self, path: str, question: str) -> Fault:
        """The fault for this request, which uses it up; `NO_FAULT` if none waits."""
        for item in self.waiting:
            if item.path == path and item.match in question:
                item.times -= 1
                if not item.times:
                    self.waiting.remove(item)
                return item.fault
        return NO_FAULT

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {"fault": f"{item.fault.name}:{item.fault.argument}".rstrip(":"), "times": item.times}
            | {"match": item.match, "path": item.path}
            for item in self.waiting
        ]
