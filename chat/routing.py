"""WebSocket routes."""

from typing import Final

from channels.generic.websocket import AsyncWebsocketConsumer
from django.urls import path, re_path

from chat.consumer import ChatConsumer

NOT_FOUND: Final = 4404
"""Close code: there is no socket at this address."""


class NotFoundConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Handles every other address, for which Channels would raise an exception."""

    async def connect(self) -> None:
        """Accept first: only then does the close code reach the client."""
        await self.accept()
        await self.close(NOT_FOUND)


websocket_urlpatterns = [path("ws/chat", ChatConsumer.as_asgi()), re_path("", NotFoundConsumer.as_asgi())]
