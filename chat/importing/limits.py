"""How much of a file is read? Beyond these the answer is a sentence, or an entry that is counted as broken."""

from __future__ import annotations

from typing import Final

MEGABYTE: Final = 1_000_000
ENTRY_BYTES: Final = 32 * MEGABYTE
"""One conversation as JSON. The longest honest ones have some megabytes; parsed, a byte takes about five in memory."""
UNPACKED_BYTES: Final = 4_000 * MEGABYTE
"""All that is unpacked of a zip; more is a trap, or nobody's conversations."""
PACKED_TO: Final = 200
"""Times a file of a zip may grow when it is unpacked: conversations grow five to twenty times, a trap a thousand."""
UNPACKED_FREELY: Final = 10 * MEGABYTE
"""Up to here nobody asks how well it was packed."""
ZIP_MEMBERS: Final = 200_000
"""Files in a zip: exports carry every picture. Only the names of JSON files are looked at further."""
TITLE_CHARS: Final = 200
MESSAGE_CHARS: Final = 2_000_000
"""Of one message; the rest is left out and counted. Nobody typed more, and a prompt holds a tenth of it."""
TOOL_CHARS: Final = 20_000
"""Of one tool's result: pages that were read by a tool are not the conversation."""
ID_CHARS: Final = 100
"""Of a message's name elsewhere: the column's width. A longer one is told apart by its digest."""
DOCUMENT_CHARS: Final = 2_000_000
"""As for an uploaded file (memory/documents/readers/limits.py)."""
NAMED: Final = 20
"""Broken entries that are named; the others are counted."""
MOST_WAITING: Final = 5
"""Files of one person that wait or are being read: together they must not fill the database."""
