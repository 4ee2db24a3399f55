#!/usr/bin/env python
"""Django's command line: `python manage.py up` starts everything, `python manage.py help` lists the rest."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recall.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from recall.db.acting import act_by_default

    act_by_default("command")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))  # one sentence, no traceback


if __name__ == "__main__":
    main()
