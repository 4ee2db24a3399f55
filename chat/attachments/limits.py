"""How much may go with a message? What people send, within what the provider takes and a row can hold."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings

MEGABYTE: Final = 1_000_000
MOST_A_MESSAGE: Final = 10
"""Attachments of one message; more are a folder, and belong into the knowledge base."""
MOST_BYTES_A_MESSAGE: Final = 50 * MEGABYTE
"""As uploaded, together."""
LARGEST_MEGABYTES: Final = 30
"""Of one file, whatever MAX_UPLOAD_MB allows: an archive writes it as a row, which may have 64 million bytes."""
MOST_DRAFTS: Final = 50
MOST_DRAFT_BYTES: Final = 200 * MEGABYTE
"""Of one person, uploaded and not sent: together they must not fill the database."""
DRAFTS_LIVE: Final = timedelta(days=1)
"""A reload or a night keeps them; what is older was forgotten."""

MOST_IMAGES: Final = 20
"""In one request: with more the provider takes none over 2,000 pixels (its documentation, “Vision”, 2026), and twenty
of pictures.MOST_BYTES stay below the 32 MB of a request."""
IMAGES_STAYING: Final = 10
"""Where a conversation shows more, only the latest so many stay, in one step: each step makes the cache forget them."""

LONG_PASTE: Final = 4_000
"""Characters from which a paste becomes an attachment: some 1,000 tokens, twice what a composer shows at once. Longer,
it hides the question; and it is seldom the person's own words, which alone are evidence."""
SHOWN_CHARACTERS: Final = 20_000
"""Of a file's text on the page; the file itself has the rest."""
NAME_CHARACTERS: Final = 255
PASTE_NAME_WORDS: Final = 6


def largest_bytes() -> int:
    """Of one file."""
    return min(settings.ENVIRONMENT.max_upload_mb, LARGEST_MEGABYTES) * MEGABYTE
