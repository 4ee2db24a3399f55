"""The port for apps that keep the path of a folder: a signal when documents have moved."""

from typing import Final

from django.dispatch import Signal

documents_moved: Final = Signal()
"""Sent after a move of a path and everything below it, in that transaction: `user`, `old`, `new`."""
