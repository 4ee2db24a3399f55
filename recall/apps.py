from django.apps import AppConfig


class RecallConfig(AppConfig):
    name = "recall"

    def ready(self) -> None:
        from recall.observability import slow_statements, tracing  # noqa: F401 -- their receivers

        tracing.check()
