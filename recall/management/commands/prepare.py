"""`python manage.py prepare`: prepare the database as `up` does, for servers started one by one."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from recall.process.startup import prepare_database
from recall.process.supervisor import StartupError


class Command(BaseCommand):
    help = "Check the database and create its tables and, without Redis, the queue. Safe to run again."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(prepare_database(lambda: "The database is ready."))
        except StartupError as refusal:
            sys.exit(str(refusal))
