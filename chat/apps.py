from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"

    def ready(self) -> None:
        """Register chat's implementations of memory's ports, and connect signal receivers."""
        from budget.receipts.forgetting import ReceiptEraser
        from chat.forgetting import ConversationEraser
        from chat.ingest.source import ChatSource, ChatUsageLedger
        from chat.projects import projects  # noqa: F401 (connects its receiver)
        from chat.turns import remote  # noqa: F401 (connects its receiver)
        from memory.ports import forgettable, source, spending

        source.register(ChatSource())
        spending.register(ChatUsageLedger())
        forgettable.register(ConversationEraser(), ReceiptEraser())
