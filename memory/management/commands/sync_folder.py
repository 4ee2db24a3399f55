"""`manage.py sync_folder EMAIL FOLDER --to /reference/notes`: sync documents with a folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from memory.documents.folder_sync import FOLDER, SyncRefusedError, What, sync_folder


class Command(BaseCommand):
    """Changed files become revisions, missing ones are deleted; documents edited in Recall are kept."""

    help = "Sync a user's documents with a folder of files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="the user's email")
        parser.add_argument("folder", type=Path, help="folder on this machine")
        parser.add_argument("--to", default=FOLDER, help=f"path of the documents; default: {FOLDER}")
        parser.add_argument("--origin", default="", help="stable name of the folder, in case it moves later")
        parser.add_argument("--dry-run", action="store_true", help="only print what would be done")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["email"]).first()
        if user is None:
            raise CommandError(f"No user {options['email']}.")
        try:
            report = sync_folder(
                user, options["folder"], options["to"], origin=options["origin"], dry_run=options["dry_run"]
            )
        except SyncRefusedError as refusal:
            raise CommandError(str(refusal)) from refusal
        except ValidationError as error:
            raise CommandError(error.messages[0]) from error
        for outcome in report.outcomes:
            if outcome.what != What.UNCHANGED:
                self.stdout.write(f"{outcome.what:9} {outcome.path}{f': {outcome.reason}' if outcome.reason else ''}")
        counts = ", ".join(f"{report.counts[what]} {what}" for what in What)
        self.stdout.write(f"{'Would be: ' if options['dry_run'] else ''}{counts}")
