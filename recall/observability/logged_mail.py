"""Mail where no server is set (EMAIL_URL): a log line each, which LOG_LEVEL doesn't hide."""

import logging
from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

logger = logging.getLogger("recall.mail")


class LoggedMail(BaseEmailBackend):
    """Django's own prints past the log, and breaks a long link over two lines."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Log them; how many."""
        for mail in email_messages:
            logger.info("No mail server is set. To %s: %s\n\n%s", ", ".join(mail.recipients()), mail.subject, mail.body)
        return len(email_messages)
