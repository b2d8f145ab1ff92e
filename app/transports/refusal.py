"""Refusal: an error as the HTTP response that the asked path's clients understand.

OpenAI's and Anthropic's paths answer in their words, everything else in ours, which is the ``error``
event's JSON. A WebSocket that is refused before it is accepted gets a real HTTP response, too. It
refuses to know why something is refused.
"""

from __future__ import annotations

import secrets

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from app.errors import BadRequest, FirstwordError, NotFound
from app.events import Error
from app.transports import anthropic_errors, openai_errors
from app.transports.framing import JSON, json_bytes


def response_to(error: FirstwordError, path: str) -> Response:
    """The whole response for ``error`` on ``path``."""
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    if error.status == 413:
        # The rest of the body is still on its way and nobody will read it.
        headers["connection"] = "close"
    status, body = error.status, json_bytes(event_of(error))
    if path.startswith("/v1/"):
        headers |= openai_errors.retry_headers(error)
        request_id = f"req_{secrets.token_hex(12)}"
        if path.startswith("/v1/messages"):
            headers["request-id"] = request_id
            status = anthropic_errors.error_status(error)
            body = json_bytes(anthropic_errors.error_body(error, request_id))
        else:
            headers["x-request-id"] = request_id
            body = json_bytes(openai_errors.error_body(error))
    elif error.retry_after_s is not None:
        headers["retry-after"] = str(error.retry_after_s)
    return Response(body, status, headers, JSON)


def event_of(error: FirstwordError) -> Error:
    """Our own words for it."""
    return Error(error.code, error.message, error.retryable, param=error.param)


async def refuse(error: FirstwordError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or a WebSocket not accepted yet, with the error."""
    response = response_to(error, scope["path"])
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": error.close_code, "reason": error.code})
        return
    await response(scope, receive, send)


async def on_error(request: Request, error: Exception) -> Response:
    """Starlette's handler for whatever an endpoint raised before its response began."""
    assert isinstance(error, FirstwordError)
    return response_to(error, request.url.path)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Starlette's handler for paths and methods that do not exist: programs get JSON."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    if not path.startswith(("/api/", "/v1/", "/generate-")):
        return PlainTextResponse(error.detail, error.status_code, error.headers)
    found = BadRequest(f"{request.method} is not answered at {ascii(path[:80])}")
    if error.status_code == 404:
        response = response_to(NotFound(f"there is nothing at {ascii(path[:80])}"), path)
    else:
        response = response_to(found, path)
        response.status_code = error.status_code
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
