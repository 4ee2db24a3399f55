"""`python manage.py replay MESSAGE`: rebuild the request behind an answer and compare it with the one sent."""

import json
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from budget.models import Receipt
from chat.prompt.replay import replay


class Command(BaseCommand):
    help = "Rebuild the request behind an answer and check that it is identical to the one sent."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("message", nargs="?", type=int, help="id of the answer's message")
        parser.add_argument("--conversation", type=UUID, metavar="UUID", help="its conversation, together with --turn")
        parser.add_argument("--turn", type=int, metavar="N", help="number of the turn; of several answers the last")
        parser.add_argument("--show", action="store_true", help="print the request, which contains the user's messages")

    def handle(
        self,
        *args: Any,
        message: int | None,
        conversation: UUID | None,
        turn: int | None,
        show: bool,
        **options: Any,
    ) -> None:
        receipt = _find_receipt(message, conversation, turn)
        replayed = replay(receipt)
        if show and replayed.request is not None:
            self.stdout.write(json.dumps(replayed.request, ensure_ascii=False, indent=2))
        where = f"(message {receipt.message_id}, turn {receipt.turn})"
        if not replayed.identical:
            raise CommandError(f"Not identical {where}. {' '.join(replayed.changes)}")
        self.stdout.write(f"Identical: {receipt.request_digest} {where}.")


def _find_receipt(message: int | None, conversation: UUID | None, turn: int | None) -> Receipt:
    if (message is None) == (conversation is None or turn is None):
        raise CommandError("Give either the answer's message, or --conversation and --turn.")
    wanted = {"message_id": message} if message is not None else {"conversation_id": conversation, "turn": turn}
    rows = Receipt.objects.filter(**wanted).select_related("message__parent", "snapshot")
    found: Receipt | None = rows.order_by("-message_id").first()
    if found is None:
        raise CommandError("No receipt found for this turn.")
    return found
