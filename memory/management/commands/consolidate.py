"""`python manage.py consolidate`: tidy up memories now, as is done every night, and say what was done."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from accounts.models import User
from memory.consolidation import consolidate, jobs


class Command(BaseCommand):
    help = "Close what is over, archive what faded, merge overlapping episodes; for everyone, or for one person."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", metavar="EMAIL", help="only this person's memory")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")

    def handle(self, *args: Any, user: str | None, dry_run: bool, **options: Any) -> None:
        now, failed = timezone.now(), 0
        for person in _people(user):
            try:
                report = consolidate.consolidate(person, now, rehearse=True) if dry_run else _tidied(person, now)
            except (DatabaseError, User.DoesNotExist) as error:
                failed += 1
                self.stderr.write(f"{person.email}: not done ({str(error).strip()}).")
                continue
            would = "would be: " if dry_run else ""
            self.stdout.write(f"{person.email}: {would}{' '.join(report.sentences())}")
        if failed:
            raise CommandError(f"{failed} could not be done; the others are.")


def _tidied(person: User, now: datetime) -> consolidate.Report:
    return jobs.run_consolidation(person, jobs.How.COMMAND, now)


def _people(email: str | None) -> list[User]:
    if email is None:
        return list(consolidate.people())
    found = list(User.objects.filter(email__iexact=email))
    if not found:
        raise CommandError(f"There is no account {email}.")
    return found
