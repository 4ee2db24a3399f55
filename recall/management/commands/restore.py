"""`python manage.py restore DIR`: fill an empty database from a backup."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from accounts.sign_up import DEMO_EMAIL
from recall.process.backup import BackupError, restore, serving_database
from recall.process.startup import prepare_database
from recall.process.supervisor import StartupError


class Command(BaseCommand):
    help = "Fill the empty database from the newest backup of a folder, or from one file. Stop Recall first."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("place", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        restored: Path | None = None
        try:
            with serving_database():
                restored = restore(options["place"], demo_user=DEMO_EMAIL)
                prepare_database(str)  # a backup of an older release
        except (BackupError, StartupError, OSError) as reason:
            what = f"{restored} was restored, but isn't ready: run `prepare`." if restored else "Nothing was restored."
            sys.exit(f"{what} {reason}")
        self.stdout.write(f"Restored {restored}.")
