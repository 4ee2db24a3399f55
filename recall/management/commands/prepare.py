"""`python manage.py prepare`: what `up` does before it serves, for servers that are started one by one."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from recall.process.startup import prepare_database
from recall.process.supervisor import StartupError


class Command(BaseCommand):
    help = "Check the database, make its tables and, without Redis, the queue; may be run again at any time."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(prepare_database(lambda: "The database is ready."))
        except StartupError as refusal:
            sys.exit(str(refusal))
