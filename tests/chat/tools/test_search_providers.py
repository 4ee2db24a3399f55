"""The SearXNG adapter: what it sends, what it takes from the response, and a sentence for each way it can fail."""

import json
from collections.abc import Callable
from datetime import date
from typing import Any
from urllib.parse import parse_qs

import httpx2
import pytest
from django.core.exceptions import ImproperlyConfigured

from chat.tools import search_providers
from chat.tools.search_providers import OFFER, Hit, SearchFailedError, SearXNG, chosen, offer
from recall.environment import read_environment

Handler = Callable[[httpx2.Request], httpx2.Response]
ADDRESS = "http://search.test/searxng"


def searxng(handler: Handler) -> SearXNG:
    return SearXNG(ADDRESS, transport=httpx2.MockTransport(handler))


def answering(*results: Any) -> SearXNG:
    return searxng(lambda request: httpx2.Response(200, json={"query": "x", "results": list(results)}))


def page(**fields: Any) -> dict[str, Any]:
    return {"title": "Tides", "url": "https://example.org/tides", "content": "High water at nine.", **fields}


def test_the_query_goes_in_the_body_and_asks_for_json() -> None:
    seen: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json={"results": []})

    assert searxng(handler).search("high tide " * 100, 3) == []
    (request,) = seen
    form = parse_qs(request.content.decode())
    assert (request.method, str(request.url), form["format"]) == ("POST", f"{ADDRESS}/search", ["json"])
    assert len(form["q"][0]) <= search_providers.QUERY_CHARS


def test_a_hit_has_title_source_excerpt_and_date() -> None:
    found = answering(page(publishedDate="2026-11-20T08:30:00", engine="x", score=3.5)).search("tide", 3)
    assert found == [Hit("Tides", "https://example.org/tides", "High water at nine.", date(2026, 11, 20))]


@pytest.mark.parametrize("given", [None, "", "yesterday", []])
def test_a_date_that_is_none_is_left_out(given: Any) -> None:
    (hit,) = answering(page(publishedDate=given)).search("tide", 3)
    assert hit.published is None


def test_only_the_best_few_are_taken_and_no_page_twice() -> None:
    pages = [page(url=f"https://example.org/{n // 2}") for n in range(12)]
    assert [hit.url[-1] for hit in answering(*pages).search("tide", 3)] == ["0", "1", "2"]


def test_excerpts_are_short_and_on_one_line() -> None:
    (hit,) = answering(page(title="A\n# B", content="word\n" * 500)).search("x", 3)
    assert hit.title == "A # B"
    assert len(hit.text) <= search_providers.EXCERPT_CHARS
    assert "\n" not in hit.text


@pytest.mark.parametrize(
    "url",
    ["", "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "https://", "http://[::1", "//example.org/a",
     "https://example.org/" + "a" * 600, "https://example.org/a\nb", None, 7],
)  # fmt: skip
def test_what_is_no_web_address_is_no_source(url: Any) -> None:
    assert answering(page(url=url)).search("tide", 3) == []


def test_a_hit_without_words_is_none() -> None:
    assert answering(page(content=None), page(content="  ")).search("tide", 3) == []


def test_the_addresses_of_hits_are_never_fetched() -> None:
    asked: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(200, json={"results": [page(url="http://169.254.169.254/latest/meta-data")]})

    searxng(handler).search("tide", 3)
    assert asked == [f"{ADDRESS}/search"]


def _redirect(_: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(302, headers={"location": "http://127.0.0.1:6379/"})


def _away(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("no", request=request)


def _slow(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ReadTimeout("slow", request=request)


GZIP = {"content-encoding": "gzip"}
FAILURES: list[tuple[str, Handler, str]] = [
    ("away", _away, "could not be reached"),
    ("slow", _slow, "in time"),
    ("redirects", _redirect, "error (302)"),
    ("an error", lambda _: httpx2.Response(500), "error (500)"),
    ("no JSON format", lambda _: httpx2.Response(403), "does not give out JSON"),
    ("a page", lambda _: httpx2.Response(200, text="<html>"), "could not be read"),
    ("another shape", lambda _: httpx2.Response(200, json={"results": {"a": 1}}), "could not be read"),
    ("a list", lambda _: httpx2.Response(200, json=[]), "could not be read"),
    ("too much", lambda _: httpx2.Response(200, content=b" " * (search_providers.MAX_RESPONSE_BYTES + 1)), "too large"),
    (
        "a broken encoding",
        lambda _: httpx2.Response(200, headers=GZIP, content=iter([b"no gzip"])),
        "reached",
    ),
]


@pytest.mark.parametrize(("name", "handler", "words"), FAILURES)
def test_each_failure_is_a_sentence(name: str, handler: Handler, words: str) -> None:
    with pytest.raises(SearchFailedError, match=r"\.$") as failed:
        searxng(handler).search("tide", 3)
    assert words in str(failed.value), name


def test_an_answer_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1_000, 5))
    monkeypatch.setattr("chat.tools.search_providers.time.monotonic", lambda: float(next(clock)))
    body = (json.dumps({"results": []})[:1].encode() for _ in range(50))
    with pytest.raises(SearchFailedError, match="in time"):
        searxng(lambda _: httpx2.Response(200, content=body)).search("tide", 3)


@pytest.mark.parametrize(
    ("setting", "address", "kind"),
    [("off", ADDRESS, type(None)), ("provider", None, type(None)), ("searxng", ADDRESS, SearXNG)],
)
def test_the_operator_chooses(settings: Any, setting: str, address: str | None, kind: type) -> None:
    chosen_by_operator = {"web_search": setting, "web_search_url": address}
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update=chosen_by_operator)
    assert type(chosen()) is kind


def test_searxng_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_SEARCH", "searxng")
    with pytest.raises(ImproperlyConfigured, match="WEB_SEARCH_URL: is required for WEB_SEARCH=searxng"):
        read_environment()
    monkeypatch.setenv("WEB_SEARCH_URL", "ftp://search.test")
    with pytest.raises(ImproperlyConfigured, match="WEB_SEARCH_URL: must start with http"):
        read_environment()
    monkeypatch.setenv("WEB_SEARCH_URL", "http://search.test/searxng/")
    assert read_environment().web_search_url == ADDRESS


@pytest.mark.parametrize(("setting", "line"), [("off", ""), ("searxng", OFFER), ("provider", OFFER)])
def test_the_web_is_offered_on_a_cue_where_there_is_a_search(settings: Any, setting: str, line: str) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"web_search": setting})
    assert offer("What is the latest release of Django?") == line
    assert offer("Where does my sister live?") == ""
