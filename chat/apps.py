"""Chat's start: what other apps ask of it is connected, and loaded when one does.

Most processes never forget, read or delete anything: a command, a clock, the process that starts the others. Loading
what does took half of each one's start, and half of its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from memory.ports.forgettable import Forgettable
    from memory.ports.source import ConversationSource
    from memory.ports.spending import UsageLedger


class ChatConfig(AppConfig):
    name = "chat"

    def ready(self) -> None:
        """Register chat's implementations of memory's ports, and connect signal receivers."""
        from accounts.deletion import account_deletion_started
        from memory.ports import forgettable, source, spending
        from memory.ports.moved_documents import documents_moved

        source.register(_load_source)
        spending.register(_load_ledger)
        forgettable.register(_load_forgettables)
        documents_moved.connect(_move_projects)
        account_deletion_started.connect(_stop_answers)


def _load_source() -> ConversationSource:
    from chat.ingest.source import ChatSource

    return ChatSource()


def _load_ledger() -> UsageLedger:
    from chat.ingest.source import ChatUsageLedger

    return ChatUsageLedger()


def _load_forgettables() -> Sequence[Forgettable]:
    from budget.receipts.forgetting import ReceiptEraser
    from chat.forgetting import ConversationEraser

    return ConversationEraser(), ReceiptEraser()


def _move_projects(**move: Any) -> None:
    from chat.projects.projects import on_documents_moved

    on_documents_moved(**move)


def _stop_answers(**deletion: Any) -> None:
    from chat.turns.remote import stop_answers

    stop_answers(**deletion)
