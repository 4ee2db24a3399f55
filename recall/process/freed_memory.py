"""Keeps freed memory from piling up: allocators keep it for later, a fifth of a process after loading models."""

import ctypes
import gc
from typing import Final

HEAPS: Final = 2
"""glibc has one for each thread, which keeps that thread's peak: in a worker under load, 130 MB."""
_M_ARENA_MAX: Final = -8


def limit_heaps() -> None:
    """Let all threads share a few heaps. Before any of them starts."""
    if set_option := getattr(ctypes.CDLL(None), "mallopt", None):  # glibc alone has it
        set_option(_M_ARENA_MAX, HEAPS)


def give_back() -> None:
    """Collect what is unreachable, and return free pages. Later collections skip what is left."""
    gc.collect()
    gc.freeze()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
