"""`python manage.py verify DIR`: check that a backup can be restored."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from recall.process.backup import BackupError, verify


class Command(BaseCommand):
    help = "Check that the newest backup of a folder, or one file, is whole."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("place", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(f"{verify(options['place'])} is whole.")
        except (BackupError, OSError) as reason:
            sys.exit(str(reason))
