"""What does a page show of an attachment? A thumbnail or a chip: name, size, tokens; never its bytes or its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.template.defaultfilters import filesizeformat
from django.urls import reverse

from chat.models import Attachment, Message

UNSEEN: Final = "This model cannot see images: it is told the name and the size only."


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
        """Shown as a picture."""
        return self.kind == Attachment.Kind.IMAGE


def build_attachment_view(row: Attachment) -> AttachmentView:
    """The row as pages show it."""
    size = filesizeformat(row.size)
    return AttachmentView(row.pk, row.kind, row.name, size, row.tokens, row.width, row.height)


def attached_to(messages: Iterable[Message]) -> dict[int, tuple[AttachmentView, ...]]:
    """What is attached to these messages, whose owner the caller knows, by their ids. One statement at most."""
    asked = [one.pk for one in messages if one.role == Message.Role.USER and one.pk and one.pk > 0]
    if not asked:
        return {}
    rows = Attachment.objects.filter(message__in=asked).defer("content", "text")
    ordered = rows.order_by("message", "number", "pk")
    return {
        pk: tuple(map(build_attachment_view, some))
        for pk, some in groupby(ordered, key=lambda row: row.message_id or 0)
    }


def as_json(row: Attachment, *, sees: bool) -> dict[str, Any]:
    """A draft as the composer shows it. `note`: what the person should know before it is sent."""
    one = build_attachment_view(row)
    address = reverse("attachment", args=[row.pk])
    return {
        "id": one.id,
        "kind": one.kind,
        "name": one.name,
        "size": one.size,
        "tokens": one.tokens,
        "thumbnail": reverse("attachment_thumbnail", args=[row.pk]) if one.is_image else "",
        "url": address,
        "text_url": "" if one.is_image else reverse("attachment_text", args=[row.pk]),
        "remove_url": reverse("remove_attachment", args=[row.pk]),
        "note": UNSEEN if one.is_image and not sees else "",
    }
