"""What the socket refuses, always with a clear word, and goes on living."""

import asyncio
import json
from typing import Any, get_args
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.layers import get_channel_layer
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.sessions import SESSIONS_CHANGED
from chat.consumer import FULL, MAX_SOCKETS, OUTBOX_BYTES, ChatConsumer
from chat.models import Conversation, Message
from chat.protocol import Incoming
from chat.routing import NOT_FOUND
from chat.turns.admission import Admission
from chat.turns.live import MAX_RUNNING
from recall.db.notify import RESYNC
from tests.chat.conftest import PATIENCE, Provider, Socket, Tab, Tabs
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queued")]

ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


async def still_alive(tab: Tab) -> None:
    await tab.tell("ping")
    await tab.hear("pong")


async def test_nobody_is_turned_away_with_a_code_of_its_own() -> None:
    socket = Socket(AnonymousUser())
    assert (await socket.connect())["type"] == "websocket.accept"
    assert await socket.event() == {"type": "websocket.close", "code": 4401}
    await socket.send(json.dumps({"v": 1, "type": "ping"}))
    assert await socket.app.receive_nothing()


BAD_FRAMES = [
    "not json",
    "[]",
    "{}",
    '{"v": 1, "type": "explode"}',
    '{"v": 9, "type": "ping"}',
    f'{{"v": 1, "type": "send", "client_id": "{ID}", "conversation": null}}',
    f'{{"v": 1, "type": "send", "client_id": "{ID}", "conversation": null, "text": 7}}',
    f'{{"v": 1, "type": "send", "client_id": "{ID}", "conversation": "x", "text": "Hi"}}',
    '{"v": ' + "1" * 5_000 + "}",
]


@pytest.mark.parametrize("text", BAD_FRAMES)
async def test_a_wrong_frame_is_refused_and_the_socket_lives(alice: Any, tabs: Tabs, text: str) -> None:
    tab = await tabs.open(alice)
    await tab.socket.send(text)
    error = await tab.hear("error")
    assert (error["code"], error.get("client_id")) == ("bad_frame", ID if ID in text else None)
    await still_alive(tab)


async def test_a_binary_frame_is_refused(alice: Any, tabs: Tabs) -> None:
    tab = await tabs.open(alice)
    await tab.socket.send(data=b"\x00\xff")
    assert (await tab.hear("error"))["code"] == "bad_frame"
    await still_alive(tab)


BAD_TEXTS = [("", "empty"), ("  \n ", "empty"), ("a\x00b", "bad_text"), ("x" * 1_000_000, "too_long")]


@pytest.mark.parametrize(("text", "code"), BAD_TEXTS, ids=["empty", "blank", "NUL", "1 MB"])
async def test_bad_text_is_refused_with_the_users_words_kept_out(alice: Any, tabs: Tabs, text: str, code: str) -> None:
    tab = await tabs.open(alice)
    await tab.tell("send", client_id=ID, conversation=None, text=text)
    error = await tab.hear("error")
    assert (error["code"], error["client_id"]) == (code, ID)
    assert not await Message.objects.aexists()
    await still_alive(tab)


OPERATIONS = [
    ("open", lambda c, m: {"conversation": c}),
    ("stop", lambda c, m: {"conversation": c}),
    ("send", lambda c, m: {"conversation": c, "client_id": str(uuid4()), "text": "Hi"}),
    ("edit", lambda c, m: {"message": m, "client_id": str(uuid4()), "text": "Hi"}),
    ("retry", lambda c, m: {"message": m, "client_id": str(uuid4())}),
    ("continue", lambda c, m: {"message": m, "client_id": str(uuid4())}),
]


@pytest.mark.parametrize(("operation", "fields"), OPERATIONS, ids=[name for name, _ in OPERATIONS])
async def test_bob_reaches_nothing_of_alices_by_any_operation(
    alice: Any, bob: Any, tabs: Tabs, provider: Provider, operation: str, fields: Any
) -> None:
    done = await (await tabs.open(alice)).talk("My secret is safe")
    before = await Message.objects.acount()
    tab = await tabs.open(bob)
    await tab.tell(operation, **fields(done["conversation"], done["message"]))
    error = await tab.hear("error")
    assert error["code"] == "not_found"
    assert "secret" not in json.dumps(tab.seen)
    assert await Message.objects.acount() == before


async def test_bob_hears_nothing_of_what_alice_is_told(alice: Any, bob: Any, tabs: Tabs, provider: Provider) -> None:
    his = await tabs.open(bob)
    await (await tabs.open(alice)).talk("My secret is safe")
    await still_alive(his)
    assert [frame["type"] for frame in his.seen] == ["hello", "pong"]


async def test_ids_that_do_not_exist_are_not_found(alice: Any, tabs: Tabs) -> None:
    tab = await tabs.open(alice)
    await tab.tell("open", conversation=str(uuid4()))
    assert (await tab.hear("error"))["code"] == "not_found"
    await tab.tell("retry", client_id=str(uuid4()), message=2**63 - 1)
    assert (await tab.hear("error"))["code"] == "not_found"


async def test_too_many_turns_at_once_are_refused(alice: Any, tabs: Tabs, provider: Provider) -> None:
    for _ in range(MAX_RUNNING):
        provider.fail("slow:0.3")
    tab = await tabs.open(alice)
    opened = [await tab.ask(f"Question {number}") for number in range(MAX_RUNNING)]
    await tab.tell("send", client_id=ID, conversation=None, text="One more")
    assert (await tab.hear("error"))["code"] == "slow_down"
    for accepted in opened:
        await tab.tell("stop", conversation=accepted["conversation"])


async def test_a_person_who_may_not_sign_in_any_more_is_told_so(alice: Any, tabs: Tabs) -> None:
    tab = await tabs.open(alice)
    alice.is_active = False
    await alice.asave()
    await tab.tell("send", client_id=ID, conversation=None, text="Hi")
    assert (await tab.hear("error"))["code"] == "signed_out"
    assert not await Conversation.objects.aexists()


# Behind the whole application --------------------------------------------------------------------------------------


@pytest.fixture
async def cookie(alice: Any) -> str:
    client = Client()
    await sync_to_async(client.force_login)(alice)
    return f"sessionid={client.cookies['sessionid'].value}"


def knock(cookie: str, origin: str | None, path: str = "/ws/chat") -> Any:
    from recall.asgi import application

    headers = [(b"host", b"localhost:8000"), (b"cookie", cookie.encode())]
    headers += [(b"origin", origin.encode())] if origin else []
    scope = {"type": "websocket", "path": path, "headers": headers, "query_string": b"", "subprotocols": []}
    return ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("origin", "answer"),
    [
        ("http://localhost:8000", "websocket.accept"),
        ("http://localhost:9000", "websocket.close"),  # another program of the same machine
        ("https://localhost:8000", "websocket.accept"),  # behind a proxy that ends TLS
        ("https://evil.example", "websocket.close"),
        ("http://localhost:nonsense", "websocket.close"),
        ("null", "websocket.close"),
        (None, "websocket.close"),
    ],
)
async def test_a_foreign_page_cannot_open_a_socket(cookie: str, origin: str | None, answer: str) -> None:
    socket = knock(cookie, origin)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(PATIENCE))["type"] == answer
    await socket.send_input({"type": "websocket.disconnect", "code": 1001})
    await socket.wait(PATIENCE)


@pytest.mark.parametrize("path", ["/", "/ws", "/ws/chat/more", "/nowhere"])
async def test_a_socket_to_an_address_there_is_not_is_closed_with_a_code_of_its_own(cookie: str, path: str) -> None:
    socket = knock(cookie, "http://localhost:8000", path)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(PATIENCE))["type"] == "websocket.accept"
    assert await socket.receive_output(PATIENCE) == {"type": "websocket.close", "code": NOT_FOUND}
    await socket.send_input({"type": "websocket.disconnect", "code": NOT_FOUND})
    await socket.wait(PATIENCE)


async def test_a_change_of_the_session_closes_that_persons_sockets_to_be_let_in_anew(
    alice: Any, bob: Any, tabs: Tabs
) -> None:
    hers, his = await tabs.open(alice), await tabs.open(bob)
    await get_channel_layer().group_send(f"user-{alice.pk}", {"type": "nudge", "kind": SESSIONS_CHANGED})
    assert (await hers.socket.event())["code"] == 4408
    await still_alive(his)


async def test_after_lost_events_a_socket_whose_session_has_ended_is_closed(alice: Any, cookie: str) -> None:
    group, resync = f"user-{alice.pk}", {"type": "nudge", "kind": RESYNC}
    socket = knock(cookie, "http://localhost:8000")
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(PATIENCE))["type"] == "websocket.accept"
    assert json.loads((await socket.receive_output(PATIENCE))["text"])["type"] == "hello"
    await get_channel_layer().group_send(group, resync)
    assert json.loads((await socket.receive_output(PATIENCE))["text"]) == resync

    await Session.objects.all().adelete()
    await get_channel_layer().group_send(group, resync)
    assert await socket.receive_output(PATIENCE) == {"type": "websocket.close", "code": 4408}
    await socket.send_input({"type": "websocket.disconnect", "code": 4408})
    await socket.wait(PATIENCE)


def told_by(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    told: list[tuple[Any, ...]] = []
    monkeypatch.setattr("accounts.sessions.publish_event", lambda *what: told.append(what))
    return told


def test_signing_out_a_new_password_and_deactivation_reach_the_sockets(
    alice: Any, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = told_by(monkeypatch)
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    new = "an entirely other phrase"
    client.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new})
    assert told == [(f"user-{alice.pk}", SESSIONS_CHANGED)]
    client.post("/accounts/logout/")
    assert told == [(f"user-{alice.pk}", SESSIONS_CHANGED)] * 2
    alice.is_active = False
    alice.save()
    assert told == [(f"user-{alice.pk}", SESSIONS_CHANGED)] * 3


async def test_a_socket_that_never_reads_is_closed_and_not_fed_for_ever(alice: Any, tabs: Tabs) -> None:
    consumer = ChatConsumer()
    consumer.outbox, consumer.waiting = asyncio.Queue(), 0
    for _ in range(100):
        consumer.tell({"type": "delta", "text": "x" * 100_000})
    waiting = [consumer.outbox.get_nowait() for _ in range(consumer.outbox.qsize())]
    assert sum(map(len, waiting)) <= OUTBOX_BYTES
    assert waiting[-1] == FULL


async def test_one_person_may_not_open_sockets_without_end(alice: Any, bob: Any, tabs: Tabs) -> None:
    for _ in range(MAX_SOCKETS):
        await tabs.open(alice)
    one_more = Socket(alice)
    await one_more.connect()
    assert (await one_more.event())["code"] == 4429
    await still_alive(await tabs.open(bob))


async def test_turns_sent_at_the_same_moment_do_not_slip_past_the_limit(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    for _ in range(MAX_RUNNING * 2):
        provider.fail("slow:0.3")
    opened = [await tabs.open(alice) for _ in range(MAX_RUNNING * 2)]
    for tab in opened:
        await tab.tell("send", client_id=str(uuid4()), conversation=None, text="All at once")
    answers = await asyncio.gather(*(tab.hear_any("accepted", "error") for tab in opened))
    accepted = [frame["conversation"] for frame in answers if frame["type"] == "accepted"]
    assert len(accepted) == MAX_RUNNING
    for conversation in accepted:
        await opened[0].tell("stop", conversation=conversation)


def test_every_operation_of_the_protocol_is_in_the_table() -> None:
    types = {get_args(frame.model_fields["type"].annotation)[0] for frame in get_args(Incoming)}
    assert types == {name for name, _ in OPERATIONS} | {"ping", "temporary"}, "these two name no row"


async def test_who_waits_for_a_place_is_told_the_number_in_line(
    alice: Any, bob: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.turns.run.ADMISSION", Admission(places=1))
    first, second = await tabs.open(alice), await tabs.open(bob)
    provider.fail("timeout", match="Tell me")
    await first.tell("send", client_id=str(uuid4()), conversation=None, text="Tell me")
    conversation = (await first.hear("accepted"))["conversation"]
    await first.hear("status")
    await second.tell("send", client_id=str(uuid4()), conversation=None, text="Hi")
    assert (await second.hear("accepted"))["message"], "it is stored before it waits"
    status = await second.hear("status")
    assert (status["state"], status["label"]) == ("queued", "Many people are asking. You are number 1 in line")
    await first.tell("stop", conversation=conversation)
    assert (await second.hear("done"))["outcome"] == "complete"
