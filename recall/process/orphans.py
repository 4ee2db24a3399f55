"""Child processes end when their parent is killed, so that no run of Recall leaves a process behind."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>

# Looked up before any fork: between fork and exec a child may not load libraries.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def end_with_parent(with_signal: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the kernel sends the child `with_signal` when the process that started it dies.

    Start children from the parent's main thread: Linux watches the *thread* that forked. Other systems have nothing
    like it: there a parent killed by SIGKILL leaves children, which the next start ends. Grandchildren aren't reached;
    only PostgreSQL has any, and they watch their parent themselves.
    """
    parent = os.getpid()

    def ask_the_kernel() -> None:
        if _LIBC is not None:
            _LIBC.prctl(PR_SET_PDEATHSIG, int(with_signal), 0, 0, 0)
        if os.getppid() != parent:  # it died before the call above
            os._exit(1)

    return ask_the_kernel
