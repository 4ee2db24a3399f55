"""Which socket address leads where."""

from __future__ import annotations

from django.urls import path

from chat.consumer import ChatConsumer

websocket_urlpatterns = [path("ws/chat", ChatConsumer.as_asgi())]
