"""`python manage.py upgrade-database`: the embedded server's data to the release of this Recall."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from accounts.sign_up import DEMO_EMAIL
from recall.process.backup import BackupError, restore, serving_database
from recall.process.release_upgrade import remove_old, upgrade
from recall.process.startup import only_one_in, prepare_database
from recall.process.supervisor import StartupError


class Command(BaseCommand):
    help = "Bring the embedded PostgreSQL's data to this release. The data before is kept until --remove-old."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--again", action="store_true", help="rewrite data of this release, too: a rehearsal")
        parser.add_argument("--remove-old", action="store_true", help="remove what earlier upgrades kept")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with only_one_in(settings.VAR_DIR / "run"):
                if options["remove_old"]:
                    removed = ", ".join(map(str, remove_old(settings.VAR_DIR)))
                    self.stdout.write(f"Removed {removed}.")
                    return
                kept = upgrade(settings.VAR_DIR, _restore, again=options["again"])
        except (BackupError, StartupError, OSError) as reason:
            sys.exit(f"Nothing was upgraded. {reason}")
        self.stdout.write(f"Upgraded. The data before is kept in {kept}; --remove-old removes it.")


def _restore(folder: Path) -> None:
    with serving_database():
        restore(folder, demo_user=DEMO_EMAIL)
        prepare_database(str)
