"""Our errors in Anthropic's words: status and ``{"type": "error", …}``. Pure.

Headers for retries are the same as OpenAI's (openai_errors.retry_headers): both SDKs come from one
generator. It refuses to know when an error is sent.
"""

from __future__ import annotations

from typing import Any

from app.errors import FirstwordError, Overloaded

#: Anthropic's own status for "too many people at once"; its SDK has a class for it.
OVERLOADED_STATUS = 529

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    OVERLOADED_STATUS: "overloaded_error",
}


def error_status(error: FirstwordError) -> int:
    """The HTTP status for ``error``: ours, but for a full line at the door."""
    return OVERLOADED_STATUS if isinstance(error, Overloaded) else error.status


def error_body(error: FirstwordError, request_id: str) -> dict[str, Any]:
    """The JSON of an answer, or of an ``error`` event. The message names the field."""
    kind = _TYPES.get(error_status(error), "api_error")
    return {"type": "error", "error": {"type": kind, "message": error.message}, "request_id": request_id}
