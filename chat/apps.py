from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"

    def ready(self) -> None:
        """Give memory its source of conversations."""
        from chat.utterances import Conversations
        from memory import source

        source.register(Conversations())
