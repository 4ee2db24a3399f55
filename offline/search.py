"""The fake search server: SearXNG's JSON format at `/searxng/search`, over pages that a test provides, or none.

Nothing is looked up on the web. Without prepared pages, each query finds one page that says so, so that the demo shows
every step of a search without pretending. Pages are prepared through `POST /offline/pages`.
"""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from offline.errors import ApiError
from offline.faults import FaultQueue

Json = dict[str, Any]

PATH = "/searxng/search"
TEXTS = ("title", "url", "content")
KEYS = frozenset({*TEXTS, "publishedDate", "match"})
DEMO_TITLE = "Recall's offline demo"
DEMO_URL = "https://example.org/recall-offline-demo"
DEMO_TEXT = "The offline demo looked nothing up on the web for “{query}”: this page replaces what a search would find."


@dataclass(slots=True)
class Pages:
    """The searchable pages: prepared pages whose `match` occurs in the query, else the demo page."""

    prepared: list[Json] = field(default_factory=list)

    def add(self, pages: Any) -> None:
        """Add a list of pages, all or none; raises ValueError for an invalid one."""
        if not isinstance(pages, list) or not all(_is_page(page) for page in pages):
            raise ValueError(f"pages needs a list of objects with {', '.join(sorted(KEYS))}, all texts")
        self.prepared += pages

    def found(self, query: str) -> list[Json]:
        """The results for a query, in SearXNG's shape."""
        found = [page for page in self.prepared if page.get("match", "") in query]
        return [_result(page) for page in found] if self.prepared else [_result(demo_page(query))]


def demo_page(query: str) -> Json:
    """The page that says that it isn't a real one."""
    return {"title": DEMO_TITLE, "url": DEMO_URL, "content": DEMO_TEXT.format(query=query)}


async def search(request: Request) -> Response:
    """`GET` or `POST /searxng/search` with `q` and `format=json`; other formats are forbidden, as in SearXNG."""
    asked = await _parameters(request)
    query = asked.get("q", "").strip()
    if asked.get("format") != "json":
        return Response("Forbidden", status_code=403, media_type="text/plain")
    if not query:
        return Response("No query", status_code=400, media_type="text/plain")
    pages: Pages = request.app.state.offline.pages
    faults: FaultQueue = request.app.state.offline.faults
    error: ApiError | None = faults.take(PATH, query).error()
    if error:
        raise error
    return JSONResponse({"query": query, "number_of_results": 0, "results": pages.found(query), **_NOTHING_ELSE})


_NOTHING_ELSE: Json = {"answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": []}


def _is_page(page: Any) -> bool:
    known = isinstance(page, dict) and page.keys() <= KEYS and all(isinstance(value, str) for value in page.values())
    return known and all(page.get(name) for name in TEXTS)


def _result(page: Json) -> Json:
    """The fields that every engine fills in."""
    shown = {name: page[name] for name in TEXTS} | {"publishedDate": page.get("publishedDate")}
    return shown | {"engine": "offline", "engines": ["offline"], "category": "general", "score": 1.0, "positions": [1]}


async def _parameters(request: Request) -> dict[str, str]:
    """Parameters of the URL and of a form in the body."""
    parameters = dict(request.query_params)
    if request.method == "POST":
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        parameters |= {name: values[0] for name, values in form.items()}
    return parameters
