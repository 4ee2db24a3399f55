"""`python manage.py backup DIR`: write a verified backup of everything."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from recall.process.backup import BackupError, back_up


class Command(BaseCommand):
    help = "Write a backup of everything into a folder, read it back, and remove the oldest beyond BACKUP_KEEP."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(f"Backed up to {back_up(options['folder'])}.")
        except (BackupError, OSError) as reason:
            sys.exit(f"No backup was made. {reason}")
