from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        """Listen for sign-outs."""
        from accounts import sessions  # noqa: F401 (connects its receiver)
