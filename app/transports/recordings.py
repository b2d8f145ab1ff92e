"""Routes of the recordings that ship: a list, and each as the file it is.

    GET /api/recordings        {"recordings": [{id, title, model, tokens, first_ms, total_ms}]}
    GET /api/recordings/{id}   the recording, format version 1 (see app.replay.recording)

They are played by naming one as ``recording`` in a start (see reading). It refuses to know how a
recording is made and played.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.replay.library import shipped
from app.replay.recording import recording_bytes
from app.transports import framing

# They change only with an installation, but a page must not show the old ones then.
_HEADERS = {"cache-control": "no-cache"}


def routes() -> list[BaseRoute]:
    """All routes of this module."""
    return [
        Route("/api/recordings", _list, methods=["GET"]),
        Route("/api/recordings/{id}", _read, methods=["GET"]),
    ]


# Private


async def _list(request: Request) -> Response:
    body = framing.json_bytes({"recordings": shipped().cards()})
    return Response(body, 200, _HEADERS, framing.JSON)


async def _read(request: Request) -> Response:
    recording = shipped().recording(request.path_params["id"])
    return Response(recording_bytes(recording), 200, _HEADERS, framing.JSON)
