"""What is said, and done, when the model provider fails? Classified by the error's type, not by its class:
an error event in mid-stream arrives as HTTP 200."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    import anthropic

SILENT_RETRIES = 2
"""Attempts after the first, made without a word, and only while nothing was shown."""
MAX_BACKOFF_SECONDS = 8.0
"""Longest pause in seconds before a silent retry; a provider that asks for more gets a sentence and a button."""
FIRST_PAUSE = 0.5
"""Seconds before the first silent retry, doubled for the second, when the provider names no time."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One way to fail: its name in logs and rows, the sentence for the user, and whether to try again unasked."""

    code: str
    sentence: str
    is_retryable: bool = False
    retry_after: float | None = None
    """Seconds the provider asks to wait."""


SPENT = Failure("spend_limit", "The model account has reached its spending limit. Raise it there, then retry.")
UNAUTHORIZED = Failure("unauthorized", "The model server did not accept the key. Whoever runs Recall must check it.")
UNREACHABLE = Failure("unreachable", "The model server could not be reached. Retry in a moment.", is_retryable=True)
BROKEN = Failure(
    "broken_connection", "The connection to the model broke off. What had arrived is kept.", is_retryable=True
)
UNKNOWN = Failure("provider_error", "The model server reported an error. Retry, and if it stays, tell whoever runs it.")

BY_TYPE: dict[str, Failure] = {
    "authentication_error": UNAUTHORIZED,
    "permission_error": Failure("forbidden", "The model account may not use this model. Choose another one."),
    "billing_error": SPENT,
    "not_found_error": Failure("no_such_model", "The model server does not know this model. Choose another one."),
    "rate_limit_error": Failure("rate_limit", "The model is getting too many requests.", is_retryable=True),
    "overloaded_error": Failure(
        "overloaded", "The model is overloaded just now. Retry in a moment.", is_retryable=True
    ),
    "api_error": Failure("server_error", "The model server had an inner error. Retry in a moment.", is_retryable=True),
    "timeout_error": Failure("timeout", "The model took too long to answer. Retry in a moment.", is_retryable=True),
    "request_too_large": Failure("too_large", "The message is too large for the model. Shorten it or its attachments."),
    "invalid_request_error": Failure(
        "refused_request", "The model server refused the request. This is Recall's fault."
    ),
}
"""The provider's error types in plain sentences."""

SPEND_CODES = frozenset({"enforced_spend_limit_reached", "contract_spend_limit_reached"})
"""A 429 with one of these codes is no rate limit: waiting does not help."""


def classify(error: Exception) -> Failure:
    """The failure that an exception of the SDK, or of its transport, stands for."""
    import anthropic  # late, see above

    if isinstance(error, anthropic.APIStatusError):
        return _by_status(error)
    if isinstance(error, anthropic.APITimeoutError):
        return BY_TYPE["timeout_error"]
    if isinstance(error, anthropic.APIConnectionError | httpx2.ConnectError):
        return UNREACHABLE
    if isinstance(error, httpx2.HTTPError):
        return BROKEN
    return UNKNOWN


def backoff_seconds(failure: Failure, attempt: int, *, shown: bool) -> float | None:
    """Seconds to wait before silent attempt number `attempt` (1 is the first retry); None: tell the user instead."""
    if shown or not failure.is_retryable or attempt > SILENT_RETRIES:
        return None
    pause = failure.retry_after if failure.retry_after is not None else FIRST_PAUSE * 2 ** (attempt - 1)
    return pause if pause <= MAX_BACKOFF_SECONDS else None


def _by_status(error: anthropic.APIStatusError) -> Failure:
    if error.error_code in SPEND_CODES:
        return SPENT
    failure = BY_TYPE.get(error.type or "") or (BY_TYPE["api_error"] if error.status_code >= 500 else UNKNOWN)
    after = _retry_after(error)
    if after is None:
        return failure
    return replace(failure, retry_after=after, sentence=f"{failure.sentence} It asks to wait {after:.0f} seconds.")


def _retry_after(error: anthropic.APIStatusError) -> float | None:
    try:
        return float(error.response.headers["retry-after"])
    except (KeyError, ValueError):
        return None
