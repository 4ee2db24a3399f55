"""Which socket address leads where."""

from __future__ import annotations

from typing import Final

from channels.generic.websocket import AsyncWebsocketConsumer
from django.urls import path, re_path

from chat.consumer import ChatConsumer

NOTHING_THERE: Final = 4404
"""Close code: no socket has this address."""


class Nowhere(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Every other address. Channels itself would answer it with an exception."""

    async def connect(self) -> None:
        """Opened first, as only then the code reaches whoever asked."""
        await self.accept()
        await self.close(NOTHING_THERE)


websocket_urlpatterns = [path("ws/chat", ChatConsumer.as_asgi()), re_path("", Nowhere.as_asgi())]
