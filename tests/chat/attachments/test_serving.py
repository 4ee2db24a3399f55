"""An attachment is only for its owner, and nothing in it runs in a browser."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.chat.attachments.samples import draft, image_draft, picture, send

pytestmark = pytest.mark.django_db
SignIn = Callable[[Any], Client]
SCRIPT = "<script>alert(1)</script>"


def test_an_image_is_shown_as_what_recall_encoded(alice: Any, sign_in: SignIn) -> None:
    row = image_draft(alice, 'a"b\r\n.png')
    answer = sign_in(alice).get(reverse("attachment", args=[row.pk]))
    assert answer.content == picture()
    assert answer["Content-Type"] == "image/png"
    assert answer["Content-Disposition"].startswith("inline")
    small = sign_in(alice).get(reverse("attachment_thumbnail", args=[row.pk]))
    assert (small["Content-Type"], small.content[8:12]) == ("image/webp", b"WEBP")


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml", "application/pdf", "text/plain"])
def test_a_file_is_handed_out_and_never_opened(media_type: str, alice: Any, sign_in: SignIn) -> None:
    row = draft(alice, "a.html", SCRIPT, media_type=media_type)
    answer = sign_in(alice).get(reverse("attachment", args=[row.pk]))
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == 'attachment; filename="a.html"'


def test_a_row_that_lies_about_being_an_image_is_no_page(alice: Any, sign_in: SignIn) -> None:
    row = image_draft(alice, content=SCRIPT.encode(), media_type="text/html")
    client = sign_in(alice)
    assert client.get(reverse("attachment", args=[row.pk]))["Content-Type"] == "application/octet-stream"
    assert client.get(reverse("attachment_thumbnail", args=[row.pk])).status_code == 404


@pytest.mark.parametrize("address", ["attachment", "attachment_text"])
def test_every_answer_stands_in_a_sandbox(address: str, alice: Any, sign_in: SignIn) -> None:
    answer = sign_in(alice).get(reverse(address, args=[draft(alice, "a.html", SCRIPT).pk]))
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["Cache-Control"] == "private, no-cache"


def test_the_text_comes_escaped_into_the_page_and_plain_by_itself(alice: Any, sign_in: SignIn) -> None:
    row = draft(alice, text=SCRIPT + "x" * 30_000)
    address = reverse("attachment_text", args=[row.pk])
    plain = sign_in(alice).get(address)
    assert (plain["Content-Type"], plain.content.decode()) == ("text/plain; charset=utf-8", row.text)
    part = sign_in(alice).get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<script>" not in part
    assert "&lt;script&gt;" in part
    assert "10,025 more characters" in part


def test_an_image_is_not_sent_twice_to_a_browser_that_has_it(alice: Any, bob: Any, sign_in: SignIn) -> None:
    address = reverse("attachment", args=[image_draft(alice).pk])
    mark = sign_in(alice).get(address)["ETag"]
    assert sign_in(alice).get(address, headers={"If-None-Match": mark}).status_code == 304
    assert sign_in(bob).get(address, headers={"If-None-Match": mark}).status_code == 404


def test_what_was_sent_cannot_be_removed_as_a_draft(alice: Any, sign_in: SignIn) -> None:
    row = draft(alice)
    send(alice, "x", row)
    assert sign_in(alice).post(reverse("remove_attachment", args=[row.pk])).status_code == 404
    assert sign_in(alice).get(reverse("attachments"), {"id": row.pk}).json() == {"attachments": []}


def test_bob_gets_nothing_of_alices_at_any_address(alice: Any, bob: Any, sign_in: SignIn) -> None:
    rows = [draft(alice), image_draft(alice)]
    client = sign_in(bob)
    for row in rows:
        for address in ("attachment", "attachment_thumbnail", "attachment_text"):
            assert client.get(reverse(address, args=[row.pk])).status_code == 404
        assert client.post(reverse("remove_attachment", args=[row.pk])).status_code == 404
    assert client.get(reverse("attachments"), {"id": [row.pk for row in rows]}).json() == {"attachments": []}


def test_nobody_is_sent_to_sign_in(alice: Any, client: Client) -> None:
    row = image_draft(alice)
    for address in ("attachment", "attachment_thumbnail", "attachment_text"):
        assert client.get(reverse(address, args=[row.pk])).status_code == 302
    assert client.post(reverse("attachments")).status_code == 302
