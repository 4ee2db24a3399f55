"""Log formats: plain lines, or one JSON object per line (LOG_FORMAT=json) with its fields.

Recall's log lines never contain text of a user or a model: only ids, counts, states and times. (`recall.mail` is the
exception: where no server sends mail, the log has it.)
`tests/chat/turns/test_logs.py` checks that for whole turns at DEBUG level.
"""

import json
import logging
import logging.config
import sys
import threading
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from recall.observability import request_id

logger = logging.getLogger(__name__)

FIELDS: Final = "fields"
"""Attribute of a log record: `log.info("…", extra=with_fields(turn=3))`."""
TASKS: Final = "celery.app.trace"
"""Logs tasks; a failed one with its exception's message."""
MORE_THAN_IDS: Final = {
    # Logger → lowest level. Below it these log the content they handle.
    "anthropic": "INFO",  # whole prompts
    "django.db.backends": "INFO",  # statements with their values
    "django.template": "INFO",  # missing variables, with their context
    "markdown_it": "INFO",  # the text at each step
    "websockets": "INFO",  # frames
    "uvicorn": "INFO",  # the same
    "mcp": "WARNING",  # a line or two per request, with its content
    "httpcore2": "WARNING",  # each request's address
    "httpx2": "WARNING",
}


def configure(logging_settings: dict[str, Any]) -> None:
    """Django's LOGGING_CONFIG. With JSON lines, what Python itself would print becomes one, too: a warning, and an
    exception that no code handles."""
    logging.config.dictConfig(logging_settings)
    if logging_settings["handlers"]["console"]["formatter"] == "json":
        logging.captureWarnings(True)
        sys.excepthook = lambda *error: logger.critical("The process ends with an exception.", exc_info=error)
        threading.excepthook = lambda error: _uncaught("A thread ends with an exception.", error)
        sys.unraisablehook = lambda error: _uncaught("An exception was ignored.", error)


def _uncaught(message: str, error: Any) -> None:
    if error.exc_type is not SystemExit and error.exc_value is not None:
        logger.error(message, exc_info=(error.exc_type, error.exc_value, error.exc_traceback))


def with_fields(**fields: Any) -> dict[str, dict[str, Any]]:
    """Fields of a log line beside its message: ids, counts, states and times."""
    return {FIELDS: fields}


class PlainLines(logging.Formatter):
    """Readable lines. Exceptions by type and traceback, as in `JsonLines`; in full with DEBUG."""

    def __init__(self, *, debug: bool = False) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's own name)
        """The line without its exception, with the id of its request."""
        record.message = _message(record)
        line = super().formatMessage(record)
        return f"{line} [{request}]" if (request := request_id.current()) else line

    def formatException(self, ei: Any) -> str:  # noqa: N802 (logging's own name)
        """The traceback and the type."""
        if self._debug:
            return super().formatException(ei)
        return "".join(traceback.format_tb(ei[2])) + str(ei[0].__name__)


class JsonLines(logging.Formatter):
    """One JSON object per line: time (UTC), level, logger, message, fields, and an exception's type and traceback.

    Not the exception's message, which may quote the data it failed on, as may Celery's message about a failed task.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
        }
        if request := request_id.current():
            line["request"] = request
        fields: Mapping[str, Any] = getattr(record, FIELDS, {})
        line |= {name: value for name, value in fields.items() if name not in line}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["where"] = "".join(traceback.format_tb(record.exc_info[2]))
        return json.dumps(line, ensure_ascii=False, default=str)


def _message(record: logging.LogRecord) -> str:
    task: Mapping[str, Any] = getattr(record, "data", {}) if record.name == TASKS else {}
    if "exc" in task:
        return f"Task {task['name']}[{task['id']}] {task['description']}"
    message, path = record.getMessage(), getattr(getattr(record, "request", None), "path", "")
    return _with_route(message, path, getattr(record, "request", None)) if path else message


def _with_route(message: str, path: str, request: Any) -> str:
    """Django's message about a request, with the pattern of its address: the path of a document is the user's words."""
    match = request.resolver_match
    route = f"/{match.route}" if match else "(no page)"
    ends = (end for end in (path, path.encode("unicode_escape").decode()) if message.endswith(end))
    return next((message.removesuffix(end) + route for end in ends), message)
