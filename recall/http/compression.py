"""Compresses pages: most of a long conversation is markup that repeats. Files and streams stay as they are."""

from typing import override

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class PageCompressionMiddleware(GZipMiddleware):
    """Compresses HTML for browsers that accept it.

    Random padding, which Django adds, makes lengths harder to compare (the BREACH attack). Requests from other sites
    carry no session (SameSite=Lax), and the CSRF token has another mask on each page.
    """

    @override
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = isinstance(response, HttpResponse) and response.headers.get("Content-Type", "").startswith(
            "text/html"
        )
        return super().process_response(request, response) if is_page else response
