"""Keeps freed memory from piling up: allocators keep it for later, a fifth of a process after loading models."""

import ctypes
import gc
from typing import Final

HEAPS: Final = 2
"""glibc has one for each thread, which keeps that thread's peak: in a worker under load, 130 MB."""
LARGE_BYTES: Final = 512 * 1024
"""What is larger has a place of its own, and is returned when freed. Without this, glibc puts what is as large as a
model into the heaps: 11 MB of holes, which thousands of answers fill, and 23 MB of a worker."""
TOP_BYTES: Final = 16 * 1024 * 1024
"""Free space that stays at a heap's end: a network takes as much for each text."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8


def limit_heaps() -> None:
    """Let all threads share a few heaps of small things. Before any of them starts."""
    if set_option := getattr(ctypes.CDLL(None), "mallopt", None):  # glibc alone has it
        set_option(_M_ARENA_MAX, HEAPS)
        set_option(_M_MMAP_THRESHOLD, LARGE_BYTES)
        set_option(_M_TRIM_THRESHOLD, TOP_BYTES)


def give_back() -> None:
    """Collect what is unreachable, and return free pages. Later collections skip what is left."""
    gc.collect()
    gc.freeze()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
