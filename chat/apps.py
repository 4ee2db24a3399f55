from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"

    def ready(self) -> None:
        """Give memory its source of conversations, and those that take part in forgetting."""
        from budget.receipts.forgetting import ReceiptEraser
        from chat.forgetting import ConversationEraser as ForgettableConversations
        from chat.ingest.source import ChatSource
        from chat.ingest.spending import DayBook
        from chat.projects import projects  # noqa: F401 (connect their receivers)
        from memory.librarian import spending
        from memory.ports import forgettable, source

        source.register(ChatSource())
        spending.register(DayBook())
        forgettable.register(ForgettableConversations(), ReceiptEraser())
