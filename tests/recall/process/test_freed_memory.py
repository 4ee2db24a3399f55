"""The threads of a process share a few heaps of glibc, of small things only: each keeps what its threads once took."""

import re
import subprocess
import sys
from typing import Final

from recall.process.freed_memory import HEAPS, LARGE_BYTES
from tests.running import PROJECT, clean_environment

START: Final = """
import ctypes, threading, recall
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fdopen.restype = ctypes.c_void_p

def use(size):
    libc.free(ctypes.c_void_p(libc.malloc(size)))

def report():
    if hasattr(libc, "malloc_info"):
        libc.malloc_info(0, stream)
        libc.fflush(stream)

stream = ctypes.c_void_p(libc.fdopen(1, b"w"))
"""
THREADS: Final = """
together = threading.Barrier(12)

def work():
    together.wait()
    use(100_000)

threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
report()
"""
LARGE: Final = """
use(30_000_000)
report()
libc.malloc({size})
report()
"""


def run(program: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", START + program]
    return subprocess.run(
        command, cwd=PROJECT, env=clean_environment(), capture_output=True, text=True, check=True
    ).stdout


def test_threads_share_the_heaps_of_their_process() -> None:
    assert run(THREADS).count("<heap nr=") in range(HEAPS + 1)


def test_what_is_large_lies_outside_of_the_heaps_after_something_larger_was_freed() -> None:
    counts = [int(count) for count in re.findall(r'type="mmap" count="(\d+)"', run(LARGE.format(size=2 * LARGE_BYTES)))]
    assert not counts or counts[1] == counts[0] + 1
