from django.apps import AppConfig


class RecallConfig(AppConfig):
    name = "recall"

    def ready(self) -> None:
        from recall.observability import slow_statements  # noqa: F401 -- its receiver
