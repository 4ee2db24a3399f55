"""Bob's socket reaches nothing of Alice's with every `for_user` filter taken away: row-level security stops it."""

from typing import Any

import pytest

from chat.consumer import ChatConsumer
from recall.db.acting import act_for
from tests.chat.turns.test_socket import (
    test_bob_hears_nothing_of_what_alice_is_told,
    test_bob_reaches_nothing_of_alices_by_any_operation,
)

__all__ = ["test_bob_hears_nothing_of_what_alice_is_told", "test_bob_reaches_nothing_of_alices_by_any_operation"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queued", "without_filters")]


@pytest.fixture(autouse=True)
def acting_for_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `SocketUserMiddleware` leaves it, which the tests' sockets don't pass."""
    consumer: Any = ChatConsumer.as_asgi()

    async def acting(scope: Any, receive: Any, send: Any) -> None:
        act_for(scope["user"].pk)
        await consumer(scope, receive, send)

    monkeypatch.setattr(ChatConsumer, "as_asgi", lambda: acting)
