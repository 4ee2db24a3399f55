"""Limits of attachments: what users send, within what the provider accepts and a row can hold."""

from datetime import timedelta
from typing import Final

from django.conf import settings

MEGABYTE: Final = 1_000_000
MAX_PER_MESSAGE: Final = 10
"""Attachments of one message; more belong in the knowledge base."""
MAX_MESSAGE_BYTES: Final = 50 * MEGABYTE
"""Bytes of one message's attachments together, as uploaded."""
MAX_FILE_MEGABYTES: Final = 30
"""Size of one file, whatever MAX_UPLOAD_MB allows: an archive writes it as a row of at most 64 million bytes."""
MAX_DRAFTS: Final = 50
MAX_DRAFT_BYTES: Final = 200 * MEGABYTE
"""Unsent uploads of one user: together they must not fill the database."""
DRAFT_LIFETIME: Final = timedelta(days=1)
"""Drafts survive a reload or a night."""

MAX_IMAGES: Final = 20
"""Images in one request: with more, the provider accepts none over 2,000 pixels (its documentation, “Vision”, 2026),
and twenty of images.MAX_IMAGE_BYTES stay below the 32 MB of a request."""
KEPT_IMAGES: Final = 10
"""If a conversation has more, only this many of the latest stay, in one step: each step invalidates the cache."""

MIN_PASTE_CHARACTERS: Final = 4_000
"""Characters from which a paste becomes an attachment: about 1,000 tokens, twice what a composer shows at once. Longer
pastes hide the question and are rarely the user's own words, which alone are evidence."""
SHOWN_CHARACTERS: Final = 20_000
"""Characters of a file's text shown on the page; the file itself has the rest."""
NAME_CHARACTERS: Final = 255
PASTE_NAME_READ: Final = 1_000
"""Characters of a paste that its name is made from."""
PASTE_NAME_WORDS: Final = 6


def max_file_bytes() -> int:
    """Maximum size of one file."""
    return min(settings.ENVIRONMENT.max_upload_mb, MAX_FILE_MEGABYTES) * MEGABYTE
