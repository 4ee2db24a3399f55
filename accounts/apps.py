from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "Users"
    """Shown in the admin; allauth's email addresses are under “Accounts”."""

    def ready(self) -> None:
        """Keep the staff groups in step with their table after each migrate."""
        from accounts.staff import groups

        post_migrate.connect(groups.refresh, dispatch_uid="groups of staff")
