"""Errors of the server, in the provider's JSON shape."""

import secrets
from collections.abc import Mapping
from typing import Any

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


class ApiError(Exception):
    """An answer other than 200. `error_code`: the machine-readable cause, if the provider gives one."""

    def __init__(
        self, status: int, message: str, *, error_code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.error_code = error_code
        self.headers = dict(headers or {})
        self.request_id = new_request_id()


def invalid(message: str) -> ApiError:
    """The provider's 400 `invalid_request_error`."""
    return ApiError(400, message)


def error_body(error: ApiError) -> dict[str, Any]:
    """`{"type": "error", "error": {...}, "request_id": ...}`, as the SDK's `APIStatusError` reads it."""
    detail: dict[str, Any] = {"type": ERROR_TYPES[error.status], "message": error.message}
    if error.error_code:
        detail["details"] = {"error_code": error.error_code}
    return {"type": "error", "error": detail, "request_id": error.request_id}


def new_request_id() -> str:
    return f"req_{secrets.token_hex(12)}"
