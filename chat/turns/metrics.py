"""Reports a finished turn: one log line without any text, and the Prometheus metrics."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from budget.models import Receipt
from chat.models import Message
from chat.turns.live import TURN_REGISTRY
from recall.observability import metrics, request_id, tracing
from recall.observability.logs import with_fields

log = logging.getLogger("recall.turns")

SECONDS: Final = {
    "total": metrics.TURN_SECONDS,
    "first_token": metrics.FIRST_TOKEN_SECONDS,
    "compile": metrics.COMPILE_SECONDS,
    "retrieve": metrics.RETRIEVE_SECONDS,
}
"""Timings of a receipt, and their histograms."""
metrics.RUNNING.set_function(lambda: len(TURN_REGISTRY.by_conversation))


def report_turn(answer: Message, receipt: Receipt | None) -> None:
    """Report a turn whose answer was saved. `receipt`: None if it was rejected before there was a prompt."""
    metrics.TURNS.labels(outcome=answer.status).inc()
    if error := answer.event_data.get("error"):
        metrics.MODEL_ERRORS.labels(code=error["code"]).inc()
    fields = {**ids(answer), **(figures(receipt) if receipt else {})}
    if receipt is not None:
        _count(receipt)
    timings = _timings(receipt) if receipt else {}
    tracing.record(
        "turn",
        timings.get("total", 0.0) / 1000,
        request_id=request_id.current(),
        attributes={name: value for name, value in fields.items() if isinstance(value, str | int | float)},
        events={"first token": timings["first_token"] / 1000} if "first_token" in timings else {},
        failed=bool(error),
    )
    log.info(
        "A turn ended: %s", " ".join(f"{name}={value}" for name, value in fields.items()), extra=with_fields(**fields)
    )


def ids(answer: Message) -> dict[str, Any]:
    """The turn, and how it ended."""
    reason = answer.event_data.get("error", {}).get("code") or answer.event_data.get("stop_reason", "")
    return {
        "user": answer.user_id,
        "conversation": str(answer.conversation_id),
        "answer": answer.pk,
        "turn": answer.turn,
        "outcome": answer.status,
        "because": reason,
    }


def figures(receipt: Receipt) -> dict[str, Any]:
    """Tokens, cost and milliseconds."""
    return {
        "model": receipt.model,
        "plan": receipt.plan,
        "requests": len(receipt.rounds),
        "estimated_input": receipt.estimated_input,
        **{f"{kind}_tokens": tokens for kind, tokens in _tokens(receipt).items()},
        "cost": None if receipt.cost is None else float(receipt.cost),
        **{f"{name}_ms": round(ms, 1) for name, ms in _timings(receipt).items()},
    }


def _count(receipt: Receipt) -> None:
    for name, milliseconds in _timings(receipt).items():
        SECONDS[name].observe(milliseconds / 1000)
    for kind, tokens in _tokens(receipt).items():
        metrics.TOKENS.labels(kind=kind).inc(tokens)
    if receipt.cost is not None:
        metrics.COST.inc(float(receipt.cost))


def _tokens(receipt: Receipt) -> dict[str, int]:
    return {
        "fresh": receipt.input_tokens,
        "cache_read": receipt.cache_read_tokens,
        "cache_write": receipt.cache_write_tokens,
        "output": receipt.output_tokens,
    }


def _timings(receipt: Receipt) -> Mapping[str, float]:
    return {name: receipt.timings[name] for name in SECONDS if name in receipt.timings}
