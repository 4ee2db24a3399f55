"""Web search providers: SearXNG by its URL, and the model provider's own server tool.

Off unless the operator chooses one (WEB_SEARCH). Results are untrusted data: two or three short excerpts with source
and date, stored as a document below `/artifacts`. URLs of hits are shown and never fetched, so no page can make this
server call another one; the operator's own search server is trusted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from pydantic import BaseModel, ValidationError, field_validator

from chat.tools.recency_cues import needs_web_search
from recall.environment import setting
from recall.text import storable

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import WebSearchTool20250305Param

MAX_HITS: Final = setting("web_search_results", 3)
"""Excerpts of one search: two or three short ones are what a prompt should spend on the web (seed 003)."""
EXCERPT_CHARS: Final = 400
"""Characters of one hit, as many as search engines show; the user can open the source."""
TITLE_CHARS: Final = 150
URL_CHARS: Final = 500
"""A hit with a longer URL is dropped: shortened, it would lead elsewhere."""
QUERY_CHARS: Final = 200
"""Search engines cut longer queries; it also limits how much of a conversation one search can send outside."""
SEARCHES_A_TURN: Final = 3
"""A search, a rewording, and a follow-up; each shows the query to others."""
SECONDS: Final = 8.0
"""Seconds for the search server's whole answer: a turn waits for it."""
TIMEOUT: Final = httpx2.Timeout(SECONDS, connect=3.0)
MAX_RESPONSE_BYTES: Final = 2_000_000
"""Bytes read of the search server's answer; twenty hits are about 30 kB."""
PLAIN: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}
"""Not compressed, so that a small response can't expand into a large one."""

OFFER: Final = "The web can be searched for this."
"""Added to the current user message when the question has a recency cue. The tool itself is in every request of an
installation that has a search: the provider's cache matches exact bytes and tools come first, so a tool that came and
went with the question would cost the whole cached prompt each time.
"""
SERVER_TOOL: Final[WebSearchTool20250305Param] = {
    "type": "web_search_20250305",
    "name": "web_search",
    "max_uses": SEARCHES_A_TURN,
}
"""The provider's own search, in the version of 2025-03-05: later ones run code on the results, which needs the
provider's code execution and isn't covered by its zero data retention."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One search hit; its page was not fetched."""

    title: str
    url: str
    text: str
    published: date | None = None


class WebSearch(Protocol):
    """A search server."""

    def search(self, query: str, limit: int) -> list[Hit]:
        """At most `limit` hits, the best first; raises `SearchFailedError`."""


class SearchFailedError(Exception):
    """The search failed; the message is a sentence for the model."""


def chosen() -> WebSearch | None:
    """The installation's search server; None: it has none, or uses the provider's."""
    environment = settings.ENVIRONMENT
    address = environment.web_search_url
    return SearXNG(address) if environment.web_search == "searxng" and address else None


def offer(question: str) -> str:
    """The line that offers the web for this question; empty without a search, or without a cue."""
    return OFFER if settings.ENVIRONMENT.web_search != "off" and needs_web_search(question) else ""


# SearXNG ---------------------------------------------------------------------------------------------------------


class _Result(BaseModel):
    """One entry of `results` in SearXNG's JSON (docs.searxng.org, Search API); engines leave fields out or null."""

    title: str = ""
    url: str = ""
    content: str = ""
    publishedDate: datetime | None = None  # noqa: N815 (SearXNG's own name)

    @field_validator("title", "url", "content", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        return value if isinstance(value, str) else ""

    @field_validator("publishedDate", mode="wrap")
    @classmethod
    def _date(cls, value: Any, parse: Any) -> datetime | None:
        try:
            found: datetime | None = parse(value)
        except ValueError:
            return None  # not an ISO date
        return found


class _Response(BaseModel):
    results: list[_Result]


@dataclass(frozen=True, slots=True)
class SearXNG:
    """A SearXNG server with its JSON format switched on (`search.formats` in its settings)."""

    address: str
    transport: httpx2.BaseTransport | None = None

    def search(self, query: str, limit: int) -> list[Hit]:
        """At most `limit` hits with a web address and a text, the best first; raises `SearchFailedError`."""
        try:
            found = _Response.model_validate_json(self._request(query))
        except httpx2.TimeoutException as error:
            raise SearchFailedError("The search server did not answer in time.") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise SearchFailedError("The search server could not be reached.") from error
        except ValidationError as error:
            raise SearchFailedError("The search server's answer could not be read.") from error
        return _best(found.results, limit)

    def _client(self) -> httpx2.Client:
        secure = self.address.startswith("https://")  # loading certificates takes a while
        return httpx2.Client(
            headers=PLAIN, timeout=TIMEOUT, transport=self.transport, follow_redirects=False, verify=secure
        )

    def _request(self, query: str) -> bytes:
        """The response's bytes. The query goes in the body, so that it is not in access logs."""
        form = {"q": query[:QUERY_CHARS], "format": "json"}
        with (
            self._client() as client,
            client.stream("POST", f"{self.address}/search", data=form) as response,
        ):
            if response.status_code == httpx2.codes.FORBIDDEN:
                raise SearchFailedError("The search server does not give out JSON; its operator can switch that on.")
            if response.status_code != httpx2.codes.OK:
                raise SearchFailedError(f"The search server answered with an error ({response.status_code}).")
            return _read(response)


def _read(response: httpx2.Response) -> bytes:
    """The body, unless it is too large or takes too long as a whole."""
    until, body = time.monotonic() + SECONDS, bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > MAX_RESPONSE_BYTES:
            raise SearchFailedError("The search server's answer was too large.")
        if time.monotonic() > until:
            raise SearchFailedError("The search server did not answer in time.")
    return bytes(body)


def _best(results: list[_Result], limit: int) -> list[Hit]:
    """In the server's order, without duplicates, and without hits that lack a web URL or a text."""
    hits: dict[str, Hit] = {}
    for result in results:
        hit = Hit(
            title=_shorten(result.title, TITLE_CHARS),
            url=storable(result.url.strip()),
            text=_shorten(result.content, EXCERPT_CHARS),
            published=result.publishedDate.date() if result.publishedDate else None,
        )
        if hit.text and _is_web_address(hit.url):
            hits.setdefault(hit.url, hit)
    return list(hits.values())[:limit]


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and len(url) <= URL_CHARS and url.isprintable()


def _shorten(text: str, most: int) -> str:
    plain = " ".join(storable(text).split())
    return plain if len(plain) <= most else plain[: most - 1].rsplit(" ", 1)[0] + "…"
