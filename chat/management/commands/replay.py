"""`python manage.py replay MESSAGE`: build the request behind an answer again, and say whether it is the one sent."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from budget.models import Receipt
from chat.prompt.replay import Replay, replay


class Command(BaseCommand):
    help = "Build the request behind an answer again from rows, and prove that it is the one that was sent."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("message", nargs="?", type=int, help="number of the answer's message")
        parser.add_argument("--conversation", type=UUID, metavar="UUID", help="or: its conversation, with --turn")
        parser.add_argument("--turn", type=int, metavar="N", help="the turn's number; of several tries the last")
        parser.add_argument("--show", action="store_true", help="print the request: it holds the person's own words")

    def handle(
        self,
        *args: Any,
        message: int | None,
        conversation: UUID | None,
        turn: int | None,
        show: bool,
        **options: Any,
    ) -> None:
        receipt = _receipt(message, conversation, turn)
        replayed = replay(receipt)
        if show and replayed.request is not None:
            self.stdout.write(json.dumps(replayed.request, ensure_ascii=False, indent=2))
        if not replayed.identical:
            raise CommandError(_differs(receipt, replayed))
        self.stdout.write(f"Identical: {receipt.request_digest} (message {receipt.message_id}, turn {receipt.turn}).")


def _receipt(message: int | None, conversation: UUID | None, turn: int | None) -> Receipt:
    if (message is None) == (conversation is None or turn is None):
        raise CommandError("Name either the answer's message, or --conversation and --turn.")
    wanted = {"message_id": message} if message is not None else {"conversation_id": conversation, "turn": turn}
    rows = Receipt.objects.filter(**wanted).select_related("message__parent", "snapshot")
    found: Receipt | None = rows.order_by("-message_id").first()
    if found is None:
        raise CommandError("There is no receipt of that turn.")
    return found


def _differs(receipt: Receipt, replayed: Replay) -> str:
    return f"Not identical (message {receipt.message_id}, turn {receipt.turn}). " + " ".join(replayed.changes)
