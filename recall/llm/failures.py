"""Model provider failures: their sentences for the user, and the retry policy with backoff.

Classified by the error's type, not by its class: an error event in mid-stream arrives as HTTP 200.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    import anthropic

SILENT_RETRIES = 2
"""Automatic retries after the first attempt, only while no text was shown."""
MAX_BACKOFF_SECONDS = 8.0
"""Longest wait before an automatic retry; if the provider asks for more, the user gets a message and a button."""
IN_A_MOMENT = "Try again in a moment."
"""Ends a sentence; replaced where the provider says how long to wait."""
FIRST_PAUSE = 0.5
"""Seconds before the first automatic retry, doubled for the second, unless the provider says how long to wait."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One kind of failure: its code in logs and rows, the sentence for the user, and whether to retry automatically."""

    code: str
    sentence: str
    is_retryable: bool = False
    retry_after: float | None = None
    """Seconds the provider asks to wait."""


SPENT = Failure("spend_limit", "The model account reached its spending limit. Raise the limit there, then try again.")
UNAUTHORIZED = Failure("unauthorized", "The API key was rejected. Ask your administrator to check it.")
UNREACHABLE = Failure("unreachable", f"Can't reach the model server. {IN_A_MOMENT}", is_retryable=True)
BROKEN = Failure(
    "broken_connection", "The connection to the model was lost. The text so far is saved.", is_retryable=True
)
UNKNOWN = Failure("provider_error", "The model server reported an error. Try again, or ask your administrator.")

BY_TYPE: dict[str, Failure] = {
    "authentication_error": UNAUTHORIZED,
    "permission_error": Failure("forbidden", "Your model account can't use this model. Choose another one."),
    "billing_error": SPENT,
    "not_found_error": Failure("no_such_model", "The model server doesn't have this model. Choose another one."),
    "rate_limit_error": Failure(
        "rate_limit", f"The model is getting too many requests. {IN_A_MOMENT}", is_retryable=True
    ),
    "overloaded_error": Failure("overloaded", f"The model is overloaded. {IN_A_MOMENT}", is_retryable=True),
    "api_error": Failure("server_error", f"The model server had an internal error. {IN_A_MOMENT}", is_retryable=True),
    "timeout_error": Failure("timeout", f"The model took too long to answer. {IN_A_MOMENT}", is_retryable=True),
    "request_too_large": Failure(
        "too_large", "Your message is too large for this model. Shorten it or remove attachments."
    ),
    "invalid_request_error": Failure(
        "refused_request", "The model server rejected the request. This is a bug in Recall."
    ),
}
"""The provider's error types in plain sentences."""

SPEND_CODES = frozenset({"enforced_spend_limit_reached", "contract_spend_limit_reached"})
"""A 429 with one of these codes isn't a rate limit: waiting doesn't help."""


def classify(error: Exception) -> Failure:
    """The failure behind an exception of the SDK or of its transport."""
    import anthropic  # imported late, see above

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
    """Seconds to wait before automatic retry number `attempt` (from 1); None: show the failure to the user instead."""
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
    what = failure.sentence.removesuffix(f" {IN_A_MOMENT}")
    return replace(failure, retry_after=after, sentence=f"{what} Try again in {after:.0f} seconds.")


def _retry_after(error: anthropic.APIStatusError) -> float | None:
    try:
        return float(error.response.headers["retry-after"])
    except (KeyError, ValueError):
        return None
