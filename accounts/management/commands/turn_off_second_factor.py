"""`manage.py turn_off_second_factor ADDRESS`: for somebody who lost the device and the recovery codes."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError

from accounts.models import User


class Command(BaseCommand):
    """For an operator who knows that it is them who ask: afterwards the password alone signs in."""

    help = "Remove a person's authenticator app, passkeys and recovery codes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="The e-mail address they sign in with")

    def handle(self, *args: Any, address: str, **options: Any) -> None:
        user = User.objects.filter(email__iexact=address).first()
        if user is None:
            raise CommandError(f"Nobody signs in with {address}.")
        count, _ = Authenticator.objects.filter(user=user).delete()
        self.stdout.write(f"{user.email}: {count} removed. The password alone signs in now.")
