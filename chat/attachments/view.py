"""Attachments on a page: a thumbnail or a chip with name, size and tokens; never bytes or text."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.template.defaultfilters import filesizeformat
from django.urls import reverse

from chat.models import Attachment, Message

UNSEEN: Final = "This model can't see images. It only gets the name and size."


@dataclass(frozen=True, slots=True)
class AttachmentView:
    """One attachment as a page shows it."""

    id: int
    kind: str
    name: str
    size: str
    tokens: int
    width: int
    height: int

    @property
    def is_image(self) -> bool:
        return self.kind == Attachment.Kind.IMAGE


def build_attachment_view(row: Attachment) -> AttachmentView:
    size = filesizeformat(row.size)
    return AttachmentView(row.pk, row.kind, row.name, size, row.tokens, row.width, row.height)


def attached_to(messages: Iterable[Message]) -> dict[int, tuple[AttachmentView, ...]]:
    """Attachments of these messages by message id; the caller has checked their owner. At most one query."""
    message_ids = [row.pk for row in messages if row.role == Message.Role.USER and row.pk and row.pk > 0]
    if not message_ids:
        return {}
    rows = Attachment.objects.filter(message__in=message_ids).defer("content", "text")
    ordered = rows.order_by("message", "number", "pk")
    return {
        pk: tuple(map(build_attachment_view, some))
        for pk, some in groupby(ordered, key=lambda row: row.message_id or 0)
    }


def as_json(row: Attachment, *, sees: bool) -> dict[str, Any]:
    """A draft as the composer shows it. `note`: what the user should know before sending."""
    view = build_attachment_view(row)
    address = reverse("attachment", args=[row.pk])
    return {
        "id": view.id,
        "kind": view.kind,
        "name": view.name,
        "size": view.size,
        "tokens": view.tokens,
        "thumbnail": reverse("attachment_thumbnail", args=[row.pk]) if view.is_image else "",
        "url": address,
        "text_url": "" if view.is_image else reverse("attachment_text", args=[row.pk]),
        "remove_url": reverse("remove_attachment", args=[row.pk]),
        "note": UNSEEN if view.is_image and not sees else "",
    }
