"""`manage.py consolidate`: consolidate memories now, as every night, and print what was done."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from accounts.models import User
from memory.consolidation import consolidate, jobs


class Command(BaseCommand):
    help = "Expire and archive facts and merge overlapping episodes, for everyone or for one user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", metavar="EMAIL", help="only this user's memory")
        parser.add_argument("--dry-run", action="store_true", help="print what would be done, and change nothing")

    def handle(self, *args: Any, user: str | None, dry_run: bool, **options: Any) -> None:
        now, failed = timezone.now(), 0
        for account in _load_users(user):
            try:
                if dry_run:
                    report = consolidate.consolidate(account, now, rehearse=True)
                else:
                    report = jobs.run_consolidation(account, jobs.How.COMMAND, now)
            except (DatabaseError, User.DoesNotExist) as error:
                failed += 1
                self.stderr.write(f"{account.email}: failed ({str(error).strip()}).")
                continue
            would = "would be: " if dry_run else ""
            self.stdout.write(f"{account.email}: {would}{' '.join(report.sentences())}")
        if failed:
            raise CommandError(f"Failed for {failed}; done for the others.")


def _load_users(email: str | None) -> list[User]:
    if email is None:
        return list(consolidate.users_to_consolidate())
    users = list(User.objects.filter(email__iexact=email))
    if not users:
        raise CommandError(f"No account {email}.")
    return users
