"""`manage.py assign-keys`: show which facts without a key would get one, and assign them on request."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from memory.librarian.key_assignment import assign_keys, plan_keys


class Command(BaseCommand):
    help = "Show which facts would get a key (one value at a time), and which then contradict each other."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", metavar="EMAIL", help="only this user's facts")
        parser.add_argument("--apply", action="store_true", help="do it; contradictions are put into the user's review")

    def handle(self, *args: Any, user: str | None, apply: bool, **options: Any) -> None:
        accounts = User.objects.order_by("pk")
        accounts = accounts.filter(email__iexact=user) if user else accounts
        if user and not accounts.exists():
            raise CommandError(f"No account {user}.")
        for account in accounts:
            changes = plan_keys(account)
            for change in changes:
                beside = f" (asks, beside “{change.holder.statement}”)" if change.holder else ""
                self.stdout.write(f"{account.email}: “{change.fact.statement}” → {change.key}{beside}")
            if apply:
                assign_keys(account, changes)
            asked = sum(change.holder is not None for change in changes)
            would = "" if apply else "would be "
            self.stdout.write(f"{account.email}: {len(changes) - asked} {would}keyed, {asked} {would}asked about.")
