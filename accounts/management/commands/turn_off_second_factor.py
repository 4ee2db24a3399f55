"""`manage.py turn_off_second_factor ADDRESS`: for a user who lost the device and the recovery codes."""

from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError

from accounts.models import User


class Command(BaseCommand):
    """Verify first who is asking: afterwards the password alone signs in."""

    help = "Remove a user's authenticator app, passkeys and recovery codes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="The email address they sign in with")

    def handle(self, *args: Any, address: str, **options: Any) -> None:
        user = User.objects.filter(email__iexact=address).first()
        if user is None:
            raise CommandError(f"No user signs in with {address}.")
        count, _ = Authenticator.objects.filter(user=user).delete()
        self.stdout.write(f"{user.email}: {count} removed. The password alone now signs in.")
