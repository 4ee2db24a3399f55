from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "People"
    """In the admin, where allauth's e-mail addresses stand under “Accounts”."""

    def ready(self) -> None:
        """Listen for sign-outs; keep the groups of staff as the table says."""
        from accounts.staff import groups

        post_migrate.connect(groups.refresh, dispatch_uid="groups of staff")
