"""Pages are sent compressed to browsers that accept it, other answers as they are."""

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from recall.http.compression import PageCompressionMiddleware

ACCEPTS = {"accept-encoding": "gzip, br"}


def test_a_page_is_compressed_and_its_length_varies(sign_in: Callable[[Any], Client], alice: Any) -> None:
    client = sign_in(alice)
    pages = [client.get("/", headers=ACCEPTS) for _ in range(8)]
    assert all(page["Content-Encoding"] == "gzip" and "Accept-Encoding" in page["Vary"] for page in pages)
    assert b"</html>" in gzip.decompress(pages[0].content)
    assert len(pages[0].content) < 0.4 * len(gzip.decompress(pages[0].content))
    assert len({len(page.content) for page in pages}) > 1  # hides what it says from who measures it


def test_who_does_not_accept_it_gets_the_page_as_it_is(sign_in: Callable[[Any], Client], alice: Any) -> None:
    page = sign_in(alice).get("/")
    assert "Content-Encoding" not in page
    assert b"</html>" in page.content


@pytest.mark.parametrize(("kind", "is_compressed"), [("text/html; charset=utf-8", True), ("text/csv", False)])
def test_only_pages_are_compressed(kind: str, is_compressed: bool) -> None:
    given = HttpResponse("Alice lives in Lyon. " * 50, content_type=kind)
    request = RequestFactory().get("/", headers=ACCEPTS)
    answer = PageCompressionMiddleware(lambda _: given).process_response(request, given)
    assert answer.has_header("Content-Encoding") is is_compressed
