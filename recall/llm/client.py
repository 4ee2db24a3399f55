"""Clients of the model server, and its models' capabilities: one SDK client per event loop, one lookup per model."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import httpx2
from django.conf import settings

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    import anthropic
    from anthropic.types import ModelInfo

log = logging.getLogger(__name__)

KEEP_CAPABILITIES = 3600.0
"""Seconds a Models API lookup is cached."""
LOOKUP_TIMEOUT = 5.0
"""Seconds a lookup may take: a turn waits for the first one."""
RETRY_LOOKUP = 30.0
"""Seconds until a lookup that found no server is retried."""
TIMEOUT = httpx2.Timeout(600.0, connect=5.0)
"""The SDK's defaults: a long answer may take minutes; an unreachable server fails fast."""
NO_SDK_RETRIES = 0
"""Recall retries (`recall/llm/failures.py`): the SDK would retry a spent budget, and can't tell the user."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model and its server support; unspecified capabilities are off."""

    context_window: int
    """Tokens of input and output together."""
    max_output: int
    caching: bool = False
    structured_output: bool = False
    thinking: bool = False
    effort: bool = False
    count_tokens: bool = False
    images: bool = False
    web_search: bool = False
    """The server can search the web itself."""


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, anthropic.AsyncAnthropic] = WeakKeyDictionary()
_known: dict[str, tuple[float, Capabilities]] = {}


def get_client() -> anthropic.AsyncAnthropic:
    """The async client of the running event loop; its connections stay open between turns."""
    import anthropic  # imported late, see above

    loop = asyncio.get_running_loop()
    if loop not in _clients:
        # Always pass the key, so the SDK never picks up a key or profile from the machine.
        _clients[loop] = anthropic.AsyncAnthropic(
            api_key=settings.PROVIDER_API_KEY,
            base_url=settings.PROVIDER_BASE_URL,
            max_retries=NO_SDK_RETRIES,
            timeout=TIMEOUT,
        )
    return _clients[loop]


async def open_stream(request: Mapping[str, Any]) -> anthropic.AsyncStream[dict[str, Any]]:
    """The events of an answer, as the provider sends them. `request`: what `messages.create` takes.

    As JSON: the SDK would check the request and make a model of each event, a third of its time for a short answer.

    Raises:
        AnthropicError: as `messages.create` and its stream do.
    """
    from anthropic import AsyncStream  # imported late, see above

    body, kind = {**request, "stream": True}, AsyncStream[Any]
    return await get_client().post("/v1/messages", body=body, cast_to=object, stream=True, stream_cls=kind)


@cache
def get_sync_client() -> anthropic.Anthropic:
    """The blocking client, for the librarian and for lookups."""
    import anthropic  # imported late, see above

    return anthropic.Anthropic(
        api_key=settings.PROVIDER_API_KEY,
        base_url=settings.PROVIDER_BASE_URL,
        max_retries=NO_SDK_RETRIES,
        timeout=TIMEOUT,
    )


def get_capabilities(model: str) -> Capabilities:
    """What `model` supports: from the server's Models API where it has one, else from the settings."""
    import anthropic  # imported late, see above

    until, known = _known.get(model, (0.0, None))
    if known is not None and time.monotonic() < until:
        return known
    try:
        found, keep = (
            _from_models_api(get_sync_client().models.retrieve(model, timeout=LOOKUP_TIMEOUT)),
            KEEP_CAPABILITIES,
        )
    except anthropic.APIStatusError as error:
        log.info(
            "The model server has no entry for %s (%s); using the configured capabilities.", model, error.status_code
        )
        found, keep = configured_capabilities(), KEEP_CAPABILITIES
    except (anthropic.AnthropicError, httpx2.HTTPError):
        log.warning("Could not look up the capabilities of %s.", model)
        found, keep = known or configured_capabilities(), RETRY_LOOKUP
    _known[model] = (time.monotonic() + keep, found)
    return found


def cached_capabilities(model: str) -> Capabilities | None:
    """The capabilities found by the last lookup, without a new one; None: no lookup since the start."""
    return _known.get(model, (0.0, None))[1]


def refuse_caching(model: str) -> None:
    """Send this model no more marks for its cache, until the next lookup: its server refused them."""
    until, known = _known.get(model, (time.monotonic() + KEEP_CAPABILITIES, None))
    _known[model] = until, replace(known or configured_capabilities(), caching=False)


def configured_capabilities() -> Capabilities:
    """The capabilities configured for a server without a Models API (MODEL_CAPABILITIES, MODEL_CONTEXT_WINDOW, …)."""
    environment = settings.ENVIRONMENT
    named = {word.strip() for word in environment.model_capabilities.split(",")}
    return Capabilities(
        context_window=environment.model_context_window,
        max_output=environment.model_max_output,
        caching="caching" in named,
        structured_output="structured_output" in named,
        thinking="thinking" in named,
        effort="effort" in named,
        count_tokens="count_tokens" in named,
        images="images" in named,
        web_search="web_search" in named,
    )


async def close() -> None:
    """Close the connections of the running event loop's client."""
    opened = _clients.pop(asyncio.get_running_loop(), None)
    if opened is not None:
        await opened.close()


def forget_capabilities() -> None:
    """Clear the cache (another server was configured; tests)."""
    _known.clear()
    get_sync_client.cache_clear()


def _from_models_api(info: ModelInfo) -> Capabilities:
    """Capabilities from the Models API. A field it leaves out is off: other servers know only some of them."""
    fallback, able = configured_capabilities(), getattr(info, "capabilities", None)
    if able is None:
        return fallback
    return Capabilities(
        context_window=getattr(info, "max_input_tokens", None) or fallback.context_window,
        max_output=getattr(info, "max_tokens", None) or fallback.max_output,
        caching=True,  # not in the Models API: off once the server refuses it, see refuse_caching
        structured_output=_supports(able, "structured_outputs"),
        thinking=_supports(able, "thinking") and _supports(able, "thinking", "types", "adaptive"),
        effort=_supports(able, "effort"),
        count_tokens=True,  # not in it either: where counting fails, the estimate counts
        images=_supports(able, "image_input"),
        web_search=_supports(able, "server_tools", "web_search"),
    )


def _supports(capability: Any, *path: str) -> bool:
    for name in path:
        capability = getattr(capability, name, None)
    return getattr(capability, "supported", None) is True
