"""The threads of a process share a few heaps of glibc: each heap keeps what its threads once took."""

import subprocess
import sys
from typing import Final

from recall.process.freed_memory import HEAPS
from tests.running import PROJECT, clean_environment

PROGRAM: Final = """
import ctypes, threading, recall
libc, together = ctypes.CDLL(None), threading.Barrier(12)
libc.malloc.restype = libc.fdopen.restype = ctypes.c_void_p

def work():
    together.wait()
    libc.free(ctypes.c_void_p(libc.malloc(100_000)))

threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if hasattr(libc, "malloc_info"):
    stream = ctypes.c_void_p(libc.fdopen(1, b"w"))
    libc.malloc_info(0, stream)
    libc.fflush(stream)
"""


def test_threads_share_the_heaps_of_their_process() -> None:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, cwd=PROJECT, env=clean_environment(), capture_output=True, text=True, check=True)
    assert done.stdout.count("<heap nr=") in range(HEAPS + 1)
