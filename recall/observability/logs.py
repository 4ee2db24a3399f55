"""How is a log line written? For people, or as one JSON object a line (LOG_FORMAT=json), with the fields it came with.

No line of Recall's holds what a person or a model wrote: ids, counts, states and times only.
`tests/chat/turns/test_logs.py` holds that for whole turns, at the level DEBUG.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

FIELDS: Final = "fields"
"""Attribute of a log record: `log.info("…", extra=with_fields(turn=3))`."""
TASKS: Final = "celery.app.trace"
"""Tells of tasks; of one that failed with the exception's words."""
MORE_THAN_IDS: Final = {
    # name: least severe level. Below it these write down what they carry.
    "anthropic": "INFO",  # whole prompts
    "django.db.backends": "INFO",  # statements with their values
    "django.template": "INFO",  # variables that were not found, with what they were looked for in
    "markdown_it": "INFO",  # the text at each step
    "websockets": "INFO",  # frames
    "uvicorn": "INFO",  # the same
    "mcp": "WARNING",  # a line or two a request, and what it carries
    "httpcore2": "WARNING",  # each request's address
    "httpx2": "WARNING",
}


def with_fields(**fields: Any) -> dict[str, dict[str, Any]]:
    """What a line is about, beside its words: ids, counts, states and times."""
    return {FIELDS: fields}


class PlainLines(logging.Formatter):
    """A line for people. Of an exception its type and place, as in `JsonLines`; all of it on a developer's machine."""

    def __init__(self, *, debug: bool = False) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """The line; what another formatter kept of the exception does not count."""
        record.exc_text = None
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's own name)
        """The line without what an exception adds."""
        record.message = _words(record)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802 (logging's own name)
        """Where it arose, and its type."""
        if self._debug:
            return super().formatException(ei)
        return "".join(traceback.format_tb(ei[2])) + str(ei[0].__name__)


class JsonLines(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, message, the line's fields, and where an exception arose.

    Of an exception its type and place, not its message: that may quote what it choked on, and so may Celery's words
    about a task that failed.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _words(record),
        }
        fields: Mapping[str, Any] = getattr(record, FIELDS, {})
        line |= {name: value for name, value in fields.items() if name not in line}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["where"] = "".join(traceback.format_tb(record.exc_info[2]))
        return json.dumps(line, ensure_ascii=False, default=str)


def _words(record: logging.LogRecord) -> str:
    task: Mapping[str, Any] = getattr(record, "data", {}) if record.name == TASKS else {}
    return f"Task {task['name']}[{task['id']}] {task['description']}" if "exc" in task else record.getMessage()
