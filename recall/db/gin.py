"""How are indexes of words kept, whatever they are of?"""

from __future__ import annotations

from typing import Final

FEW_WAITING: Final = 64
"""Kilobytes of new words that may wait to be sorted into such an index, the least PostgreSQL allows: every search reads
those that wait, and with the usual 4 MB it took up to twice as long. Writing takes no longer."""
