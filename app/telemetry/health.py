"""Health: is the process alive (``/healthz``), and can it answer prompts now (``/readyz``).

Not ready is 503 with the reason and, while a model loads, how far it is: the page shows it. While
draining the server is not ready, so that load balancers send new work elsewhere. It refuses to
know how engines load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.generation import Engine

_HEADERS = {"cache-control": "no-store"}


def routes(engine: Engine, draining: Callable[[], bool]) -> list[BaseRoute]:
    """The two routes."""

    async def healthz(request: Request) -> Response:
        return _json(200, {"state": "alive"})

    async def readyz(request: Request) -> Response:
        if draining():
            return _json(
                503, {"state": "draining", "detail": "the server is shutting down", "progress": None}
            )
        status = engine.status
        body = {"state": status.state, "detail": status.detail, "progress": status.progress}
        if status.state != "ready":
            return _json(503, body)
        return _json(200, {**body, "stalled_s": status.stalled_s, "model": msgspec.to_builtins(engine.model)})

    return [Route("/healthz", healthz, methods=["GET"]), Route("/readyz", readyz, methods=["GET"])]


# Private


def _json(status: int, body: Mapping[str, object]) -> Response:
    return Response(msgspec.json.encode(body), status, _HEADERS, "application/json")
