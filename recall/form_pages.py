"""What answers the address of a form that was typed in, or loaded again after an error? The page that has the form."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST


def post_only[**P](
    page: str, *shared: str, at: str = ""
) -> Callable[[Callable[P, HttpResponse]], Callable[P, HttpResponse]]:
    """Take POST alone; a look leads to `page`, at the part `at`. `shared` are the arguments both addresses have."""

    def decorate(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
        takes_posts: Callable[P, HttpResponse] = require_POST(view)

        @wraps(view)
        def answer(*args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            request = args[0]
            assert isinstance(request, HttpRequest)
            if request.method not in {"GET", "HEAD"}:
                return takes_posts(*args, **kwargs)
            address = reverse(page, kwargs={name: kwargs[name] for name in shared})
            return redirect(f"{address}#{at}" if at else address)

        return answer

    return decorate
