"""Request ids: one per HTTP request or socket frame, in the response, in log lines, and in tasks it queued."""

import re
import secrets
from contextvars import ContextVar
from typing import Any, Final

from celery.signals import task_postrun, task_prerun

TASK_HEADER: Final = "recall_request"
"""Of a task's message."""
_VALID: Final = re.compile(r"[\w-]{8,64}", re.ASCII)
_CURRENT: Final[ContextVar[str]] = ContextVar("request_id", default="")


def begin(given: str = "") -> str:
    """Start a request in this context: with the id the proxy gave it, if it is one, else with a new one."""
    request_id = given if _VALID.fullmatch(given) else secrets.token_hex(8)
    _CURRENT.set(request_id)
    return request_id


def current() -> str:
    """The id of this context's request; empty: there is none."""
    return _CURRENT.get()


@task_prerun.connect
def _enter_task(task: Any, **_: Any) -> None:
    _CURRENT.set(str(getattr(task.request, TASK_HEADER, "")))


@task_postrun.connect
def _leave_task(**_: Any) -> None:
    _CURRENT.set("")
