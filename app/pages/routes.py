"""Routes of the chat page and of the files it loads.

Static files are served as written (no build), with an ETag and ``no-cache``: the browser asks again
and mostly gets 304, so a changed file is never shadowed by an old one. This module refuses to know
replies and engines; the page talks to the transports by itself.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.templating import Jinja2Templates

from app.pages.lab import lab_routes
from app.pages.lesson import lesson_routes
from app.pages.policy import page_headers
from app.pages.standalone import standalone_routes
from app.pages.vendor import installed_libraries, vendor_file

ROOT = Path(__file__).resolve().parents[2]

# The operating system's own table may call these text/plain, and a browser refuses such modules.
_MEDIA_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}


def page_routes(root: Path = ROOT) -> Sequence[BaseRoute]:
    """``/`` and ``/static``; ``root`` is the folder that holds static/, templates/ and node_modules/."""
    for suffix, media_type in _MEDIA_TYPES.items():
        mimetypes.add_type(media_type, suffix)
    return [
        Route("/", page(root, "chat.html"), name="chat_page"),
        Route("/compare", page(root, "compare.html"), name="compare"),
        Route("/teach", page(root, "teach.html"), name="teach"),
        Route("/wall", page(root, "wall.html"), name="wall"),
        Route("/join", page(root, "join.html"), name="join"),
        # What the QR code says: short, so that it has few modules and is seen from the last row.
        Route("/j", page(root, "join.html"), name="join_short"),
        *lesson_routes(root),
        *lab_routes(root),
        *standalone_routes(root),
        Route("/favicon.ico", _favicon),
        Route("/static/vendor/{path:path}", _vendor(root / "node_modules"), name="vendor"),
        Mount("/static", _Static(directory=root / "static"), name="static"),
    ]


def page(root: Path, template: str, status: int = 200) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that renders one template; later pages use it too."""
    templates = Jinja2Templates(directory=root / "templates")

    async def endpoint(request: Request) -> Response:
        libraries = installed_libraries(root / "node_modules")
        return templates.TemplateResponse(
            request,
            template,
            {"libraries": libraries},
            status_code=status,
            headers=page_headers(request.headers.get("host", "")),
        )

    return endpoint


# Private


class _Static(StaticFiles):
    """Our own files; the browser always asks whether its copy is still the newest."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        _label(response.headers)
        return response


def _vendor(node_modules: Path) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        file = vendor_file(node_modules, request.path_params["path"])
        if file is None:
            raise HTTPException(404, "no such library file")
        response = FileResponse(file, stat_result=file.stat())
        _label(response.headers)
        if request.headers.get("if-none-match") == response.headers["etag"]:
            return NotModifiedResponse(response.headers)
        return response

    return endpoint


def _label(headers: MutableHeaders) -> None:
    headers["cache-control"] = "no-cache"
    headers["x-content-type-options"] = "nosniff"


async def _favicon(request: Request) -> Response:
    return RedirectResponse(request.url_for("static", path="icons/firstword.svg"), 308)
