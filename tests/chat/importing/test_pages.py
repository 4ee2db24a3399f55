"""The import and export page, and its API: with htmx, without JavaScript, and for no one else."""

import io
import json
import zipfile
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
from django.urls import reverse

from chat.archive.stream import stream_from_thread
from chat.importing import jobs
from chat.models import Conversation, ImportJob
from memory.models import Fact, LibrarianRun
from recall.http.request_limits import EXPORT_UPLOAD_PATHS
from tests.chat.exports import CHATGPT, conversation
from tests.running import streamed

pytestmark = pytest.mark.django_db


def file(content: bytes = CHATGPT, name: str = "conversations.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def read_all() -> None:
    for job in ImportJob.objects.all():
        while jobs.run_import(job.pk):
            pass


@pytest.fixture
def page(alice: Any, sign_in: Any) -> Client:
    client: Client = sign_in(alice)
    return client


def html(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_a_file_that_is_sent_is_read_in_the_background_and_watched(page: Client) -> None:
    response = page.post(reverse("import"), {"file": file()}, follow=True)
    assert 'hx-trigger="every 2s"' in html(response)
    assert "Waiting." in html(response)
    read_all()
    told = html(page.get(reverse("import_jobs"), headers={"HX-Request": "true"}))
    assert "every 2s" not in told
    assert "Conversations: 3 new; 9 messages imported." in told
    assert "6 memories to review." in told
    assert "Broken beyond reading" in told
    assert "<html" not in told


def test_the_page_tells_how_far_it_is(page: Client, alice: Any) -> None:
    ImportJob.objects.create(user=alice, name="x.zip", size=1, state="running", done=12, total=48, origin="claude")
    told = html(page.get(reverse("import")))
    assert "up to 1 GB" in told
    assert "12 of 48 read." in told
    assert '<progress value="25" max="100"' in told
    assert "Claude" in told


def test_a_wrong_file_is_refused_on_the_page_in_words(page: Client) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        response = page.post(reverse("import"), {"file": file(b"hello", "x.txt")}, headers=headers)
        assert response.status_code == 422
        assert "an export that Recall knows." in html(response)
    assert "Choose a file first." in html(page.post(reverse("import")))
    assert not ImportJob.objects.exists()


def test_what_is_in_a_file_is_shown_as_text(page: Client) -> None:
    entry = {"title": "<script>alert(1)</script>", "mapping": {"a": 1}}
    page.post(reverse("import"), {"file": file(json.dumps([conversation("a", "b"), entry]).encode(), "<b>.json")})
    read_all()
    told = html(page.get(reverse("import")))
    assert "&lt;script&gt;alert(1)" in told
    assert "<script>alert" not in told
    assert "&lt;b&gt;.json" in told


def test_an_import_can_be_stopped_with_and_without_javascript(page: Client) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        page.post(reverse("import"), {"file": file()})
        job = ImportJob.objects.filter(state="waiting").get()
        told = html(page.post(reverse("cancel_import", args=[job.pk]), headers=headers, follow=True))
        assert "Stopped after 0 of 0" in told


def test_the_librarian_can_be_asked_to_read_too(page: Client) -> None:
    page.post(reverse("import"), {"file": file()})
    read_all()
    assert "3 conversations from ChatGPT can be searched" in html(page.get(reverse("import")))
    told = html(page.post(reverse("read_imported"), {"origin": "chatgpt"}, follow=True))
    assert "Recall is reading 3 conversations, newest first." in told
    assert "can be searched" not in told
    assert LibrarianRun.objects.count() == 3


def test_an_imported_conversation_opens_and_can_be_gone_on_with(page: Client) -> None:
    page.post(reverse("import"), {"file": file()})
    read_all()
    found = Conversation.objects.get(external_id="c-bread")
    told = html(page.get(reverse("conversation", args=[found.pk])))
    assert "One part starter to five parts flour." in told
    assert "Mix flour and water." not in told


def test_the_menus_lead_to_it(page: Client) -> None:
    assert f'href="{reverse("import")}"' in html(page.get("/"))
    assert html(page.get(reverse("memory:documents"))).count(f'href="{reverse("import")}"') == 2


def test_the_door_lets_large_files_through_where_they_are_taken() -> None:
    assert (reverse("import"), reverse("api:bring_in")) == EXPORT_UPLOAD_PATHS


# The API ---------------------------------------------------------------------------------------------------------


def test_the_api_brings_a_file_in_and_tells_how_far_it_is(page: Client) -> None:
    sent = page.post("/api/v1/imports", {"file": file()})
    assert (sent.status_code, sent.json()["state"]) == (202, "waiting")
    read_all()
    told = page.get(f"/api/v1/imports/{sent.json()['id']}").json()
    assert (told["state"], told["origin"], told["done"], told["total"]) == ("done", "chatgpt", 6, 6)
    assert told["broken"] == ["Broken beyond reading"]
    assert [one["id"] for one in page.get("/api/v1/imports").json()["items"]] == [sent.json()["id"]]
    assert page.post(f"/api/v1/imports/{told['id']}/cancel").json()["state"] == "done"
    assert page.post(f"/api/v1/imports/{told['id']}/read").json() == {"conversations": 3}


def test_the_api_refuses_in_problem_details(page: Client) -> None:
    refused = page.post("/api/v1/imports", {"file": file(b"x")})
    assert refused.status_code == 422
    assert "isn't an export" in refused.json()["detail"]


def test_another_persons_import_does_not_exist(page: Client, bob: Any) -> None:
    job = ImportJob.objects.create(user=bob, name="secret.zip", size=1)
    for method, path in (("get", ""), ("post", "/cancel"), ("post", "/read")):
        assert getattr(page, method)(f"/api/v1/imports/{job.pk}{path}").status_code == 404
    assert page.post(reverse("cancel_import", args=[job.pk])).status_code == 404
    assert "secret.zip" not in html(page.get(reverse("import")))
    job.refresh_from_db()
    assert job.state == "waiting"


def test_nobody_exports_anything(client: Client) -> None:
    assert client.get("/api/v1/export").status_code == 401
    assert client.get(reverse("export")).status_code == 302


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ["/export", "/api/v1/export"])
def test_the_export_streams_a_whole_zip_of_ones_own(address: str, alice: Any, bob: Any) -> None:
    Fact.objects.create(user=alice, statement="Alice's own")
    Fact.objects.create(user=bob, statement="Bob's own")

    async def fetched() -> tuple[Any, bytes]:
        client = AsyncClient()
        await client.aforce_login(alice, backend=settings.AUTHENTICATION_BACKENDS[0])
        response: Any = await client.get(address)
        return response, await streamed(response)

    response, content = async_to_sync(fetched)()
    assert response["Content-Disposition"].startswith('attachment; filename="recall-')
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        assert packed.testzip() is None
        facts = packed.read("data/memory.fact.jsonl").decode()
    assert "Alice's own" in facts
    assert "Bob's own" not in facts


# The stream ------------------------------------------------------------------------------------------------------


def test_a_stream_is_made_only_a_little_ahead_of_who_reads_it() -> None:
    made: list[int] = []

    def numbers() -> Any:
        for number in range(1_000):
            made.append(number)
            yield str(number).encode()

    async def story() -> None:
        stream = stream_from_thread(numbers)
        assert await anext(stream) == b"0"
        assert len(made) < 20
        assert [piece async for piece in stream][-1] == b"999"

    async_to_sync(story)()


def test_whoever_goes_away_ends_the_making() -> None:
    ended: list[str] = []

    def endless() -> Any:
        try:
            while True:
                yield b"x"
        finally:
            ended.append("ended")

    async def story() -> None:
        import asyncio

        stream = stream_from_thread(endless)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        for _ in range(40):
            if ended:
                break
            await asyncio.sleep(0.1)

    async_to_sync(story)()
    assert ended == ["ended"]


def test_an_error_in_the_making_reaches_the_reader() -> None:
    def broken() -> Any:
        yield b"x"
        raise LookupError("lost")

    async def story() -> None:
        with pytest.raises(LookupError, match="lost"):
            [piece async for piece in stream_from_thread(broken)]

    async_to_sync(story)()
