"""What an upstream's error means in our words. Pure.

A status and a body, or an error frame in mid-stream, become one of app.errors: the caller's own
mistakes (too long a prompt, a parameter) are told as such, everything else is the upstream's
failure, with its status and its message. It refuses to know the wire and whether to try again.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from app.errors import BadRequest, FirstwordError, PromptTooLong, UpstreamFailed

#: Of an error's message so much is told on; some servers send a page of HTML or a stack trace.
MAX_MESSAGE_CHARS = 500

#: How the servers spell it: OpenAI's code, llama.cpp's type, and the sentences of vLLM, SGLang, TGI.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (length|size|window)"
    r"|longer than the (model|maximum)|maximum model length|max_new_tokens. must be <=|prompt is too long",
    re.IGNORECASE,
)


def refusal(status: int, body: bytes) -> FirstwordError:
    """The error behind an answer with a status that is not 2xx."""
    code, message, param = _read(_decode(body))
    told = f"the upstream answered {status}: {message or 'no message'}"
    if status in (400, 413, 422, 500) and _TOO_LONG.search(f"{code} {message}"):
        return PromptTooLong(told, param=param or "messages")
    if status in (400, 413, 422):
        return BadRequest(told, param=param)
    if status in (401, 403):
        told += " (its key is read from the environment variable that FIRSTWORD_UPSTREAM_KEY_ENV names)"
    return UpstreamFailed(told)


def in_stream(error: Any) -> FirstwordError:
    """The error that a frame carries in place of a chunk: an object, or just a string."""
    code, message, param = _read({"error": error})
    if _TOO_LONG.search(f"{code} {message}"):
        return PromptTooLong(f"the upstream says: {message}", param=param or "messages")
    return UpstreamFailed(f"the upstream failed in mid-answer: {message or code or 'no message'}")


# Private


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode("utf-8", "replace")


def _read(answer: Any) -> tuple[str, str, str | None]:
    """(code and type, message, param) of the shapes in use: OpenAI's, FastAPI's ``detail``, text."""
    error = answer
    if isinstance(answer, dict):
        error = answer.get("error") or answer.get("detail") or answer
    if not isinstance(error, dict):
        text = error if isinstance(error, str) else msgspec.json.encode(error).decode()
        return "", _shorten(text), None
    # TGI: {"error": "...", "error_type": "validation"} was a string above; here it is an object.
    code = f"{error.get('code') or ''} {error.get('type') or ''}".strip()
    message = error.get("message") or msgspec.json.encode(error).decode()
    param = error.get("param")
    return code, _shorten(str(message)), param if isinstance(param, str) else None


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + " ..."
