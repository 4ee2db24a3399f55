"""The whole path: uvicorn as Recall is served, its lifespan, the SDK's client over a real socket, committed rows."""

import httpx2
import pytest

from accounts.api import keys
from accounts.models import User
from chat.mcp.tools import SCOPES_OF_TOOLS
from memory.librarian.remember import WAITS
from memory.models import Fact
from tests.chat.mcp.conftest import Assistant
from tests.running import listening_socket, serve_in_thread


@pytest.mark.django_db(transaction=True)
def test_other_assistants_are_served_beside_the_pages(alice: User) -> None:
    bound = listening_socket()
    address = f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
    _, secret = keys.create_key(alice, "Claude on my laptop", SCOPES_OF_TOOLS)
    with serve_in_thread("recall.asgi:application", bound):
        hers = Assistant(secret, address=address, in_process=False)
        assert hers.call("remember", statement="The user keeps bees behind the house.") == {"outcome": WAITS}
        for mode in ("legacy", "auto"):
            assert len(hers.tell(lambda client: client.list_tools(), mode).tools) == 4
        assert Assistant("rcl_x", address=address, in_process=False).post().status_code == 401
        assert httpx2.get(address.replace("/mcp", "/healthz")).status_code == 200

    assert Fact.objects.get().user == alice
    assert keys.find_active_key(secret).last_used_at is not None  # type: ignore[union-attr]
