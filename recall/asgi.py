"""The ASGI application of a web process: Django over HTTP, /mcp, Channels' sockets, and the lifespan around them."""

import asyncio
import gc
import logging
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from django.core.asgi import get_asgi_application

gc.disable()  # while modules and models load: collecting takes a tenth of the start and frees nothing
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recall.settings")
# WhiteNoise passes Django a plain iterator for each static file, and Django warns each time; the files are small.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
http = get_asgi_application()  # sets Django up; the imports below need that

import psycopg  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from django.db import InterfaceError, OperationalError  # noqa: E402
from psycopg.conninfo import make_conninfo  # noqa: E402

from accounts.socket_auth import SocketUserMiddleware  # noqa: E402
from chat.mcp.auth import McpMiddleware  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402
from chat.turns import remote  # noqa: E402
from chat.turns.live import TURN_REGISTRY  # noqa: E402
from chat.turns.recovery import mark_abandoned_answers  # noqa: E402
from memory.answers import answers  # noqa: E402
from memory.embeddings.port import embedder  # noqa: E402
from memory.forget_requests import requests as forget_requests  # noqa: E402
from memory.query_encoder.encoder import encode_question  # noqa: E402
from memory.secrets import learned as secrets  # noqa: E402
from memory.speech_acts import network as speech_acts  # noqa: E402
from memory.updates import pairs as updates  # noqa: E402
from recall.db.acting import by  # noqa: E402
from recall.db.connections import run_in_thread  # noqa: E402
from recall.db.notify import Listener  # noqa: E402
from recall.db.requirements import check_sessions  # noqa: E402
from recall.http.request_limits import (  # noqa: E402
    EXPORT_UPLOAD_PATHS,
    FORM_OVERHEAD_BYTES,
    BodySizeLimitMiddleware,
    SameOriginWebSocketMiddleware,
)
from recall.llm import client, tokens  # noqa: E402
from recall.observability.health import find_problem  # noqa: E402
from recall.process.freed_memory import give_back  # noqa: E402

logger = logging.getLogger(__name__)

SWITCH_SECONDS = 0.001
"""Python's own 5 ms are what a thread back from the database waits for the interpreter, at each statement, while others
compute. A hundred turns at once make that seconds."""

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

listeners = [Listener(make_conninfo(**settings.DATABASE_DSN))]
if settings.ENVIRONMENT.redis_url:
    from recall.db.redis_listener import RedisListener  # its client takes 9 MB

    listeners.append(RedisListener(settings.ENVIRONMENT.redis_url))


async def lifespan(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Start what a web process needs before its first request; stop it after the last."""
    await receive()  # lifespan.startup
    try:
        tasks = await start()
    except ImproperlyConfigured as refusal:
        await send({"type": "lifespan.startup.failed", "message": str(refusal)})
        return
    await send({"type": "lifespan.startup.complete"})
    await receive()  # lifespan.shutdown
    await stop(tasks)
    await send({"type": "lifespan.shutdown.complete"})


async def start() -> list[asyncio.Task[Any]]:
    """Load models, listen for events, and close answers a crashed process left open."""
    sys.setswitchinterval(SWITCH_SECONDS)
    # Not waited for, and first: the first start builds their graphs, while another process creates the tables.
    loading = asyncio.create_task(asyncio.to_thread(load_models), name="load models")
    await asyncio.gather(*[listener.start() for listener in listeners])
    await wait_for_database()
    return [
        asyncio.create_task(remote.listen(), name="listen for other processes"),
        loading,
    ]


def load_models() -> None:
    """Load what turns use. One after another: loaded side by side, their leftovers lie between what stays, and a tenth
    of the process is lost."""
    gc.disable()
    try:
        tokens.exact()
        import_module("anthropic")
        encode_question("")
        secrets.load_network()
        speech_acts.load_network()
        answers.load_network()
        updates.load_network()
        forget_requests.load_network()
        embedder()
    finally:
        gc.enable()
        give_back()


async def wait_for_database() -> None:
    """Wait for the database and its tables, which another process may still be creating, and do what needs them."""
    logged = None
    while reason := await run_in_thread(prepare):
        if reason != logged:
            logger.info("Waiting: %s.", reason)
            logged = reason
        await asyncio.sleep(0.2)


def prepare() -> str | None:
    """Check the database's connections, and close answers a crashed process left open; why it isn't possible yet."""
    if reason := find_problem():
        return reason
    try:
        check_sessions(make_conninfo(**settings.DATABASE_DSN))
        with by("start-up"):
            mark_abandoned_answers()
    except (OperationalError, InterfaceError, psycopg.OperationalError):
        return "database unreachable"  # it ended since it was asked
    return None


async def stop(tasks: list[asyncio.Task[Any]]) -> None:
    """Stop turns first: they publish events when they end. No connection is accepted any more, and sockets are
    closed."""
    await TURN_REGISTRY.shut_down(settings.ENVIRONMENT.drain_seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await client.close()
    await asyncio.gather(*[listener.stop() for listener in listeners])


application = ProtocolTypeRouter(
    {
        "http": BodySizeLimitMiddleware(
            McpMiddleware(http),
            settings.ENVIRONMENT.max_upload_mb * 1_000_000 + FORM_OVERHEAD_BYTES,
            dict.fromkeys(EXPORT_UPLOAD_PATHS, settings.ENVIRONMENT.max_import_mb * 1_000_000 + FORM_OVERHEAD_BYTES),
        ),
        "websocket": SameOriginWebSocketMiddleware(SocketUserMiddleware(URLRouter(websocket_urlpatterns))),
        "lifespan": lifespan,
    }
)
gc.enable()
