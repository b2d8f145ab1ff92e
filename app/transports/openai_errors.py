"""Our errors in OpenAI's words: status, headers and ``{"error": …}``. Pure.

The official SDKs choose their exception class by the status and retry twice by themselves on 408,
409, 429 and everything from 500 up. A retry doubles the load, so an error that will not heal says
``x-should-retry: false``, which they obey. It refuses to know when an error is sent.
"""

from __future__ import annotations

from typing import Any

from app.errors import FirstwordError

#: Our code -> theirs, where theirs is documented and programs look for it.
_CODES = {
    "prompt_too_long": "context_length_exceeded",
    "unauthorized": "invalid_api_key",
    "rate_limited": "rate_limit_exceeded",
    "invalid_request": None,
}


def error_body(error: FirstwordError) -> dict[str, Any]:
    """The JSON of an answer, or of a frame, that says what went wrong."""
    code = _CODES.get(error.code, error.code)
    if error.code == "not_found" and error.param == "model":
        code = "model_not_found"
    return {
        "error": {"message": error.message, "type": _type(error.status), "param": error.param, "code": code}
    }


def retry_headers(error: FirstwordError) -> dict[str, str]:
    """When to come back, or that it is no use; for both vendors' SDKs, which read the same headers."""
    headers = {}
    if not error.retryable:
        headers["x-should-retry"] = "false"
    if error.retry_after_s is not None:
        headers["retry-after"] = str(error.retry_after_s)
    return headers


# Private


def _type(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    if status >= 500:
        return "server_error"
    return "invalid_request_error"
