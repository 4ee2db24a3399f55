"""`python manage.py migrate`: Django's own as the tables' owner, with roles before and policies after."""

from typing import Any

from django.core.management.commands import migrate

from recall.db import row_security
from recall.db.acting import by


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        row_security.install_roles()
        row_security.remove_views()
        with by("migrations"):
            super().handle(*args, **options)
        row_security.install()
