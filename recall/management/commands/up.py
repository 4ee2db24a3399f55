"""`python manage.py up`: run everything Recall needs in one terminal, until Ctrl-C."""

import asyncio
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from accounts.sign_up import how_to_sign_in
from recall.process.startup import up
from recall.process.supervisor import StartupError


class Command(BaseCommand):
    help = "Start PostgreSQL, the web server, the worker and, without a model provider, the offline server."
    requires_system_checks = []  # they load every page: half of a start, for what tests check

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.ENVIRONMENT.host, help="address to listen on (HOST)")
        parser.add_argument("--port", default=settings.ENVIRONMENT.port, type=int, help="port to listen on (PORT)")

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        try:
            asyncio.run(up(host, port, how_to_sign_in))
        except StartupError as refusal:
            sys.exit(f"Recall stopped: {refusal}")
