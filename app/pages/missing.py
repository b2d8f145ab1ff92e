"""Missing: what a person sees at an address where nothing is.

A browser that asks for a page gets one, with the way back in its top line; programs get the refusal
that they would have got anyway, and so does whoever asks for a file. It refuses to know which
addresses there are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.pages.routes import ROOT, page

Handler = Callable[[Request, Exception], Awaitable[Response]]

#: Under these nobody looks at a page.
_PROGRAMS = ("/api/", "/v1/", "/generate-", "/static/")


def or_missing_page(otherwise: Handler, root: Path = ROOT) -> Handler:
    """A handler of HTTPException: the page for people who are lost, else what ``otherwise`` says."""
    missing = page(root, "missing.html", status=404)

    async def handler(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 404 and _is_person(request):
            return await missing(request)
        return await otherwise(request, error)

    return handler


# Private


def _is_person(request: Request) -> bool:
    """Does somebody want to look at it? Only browsers that go to a page ask for HTML."""
    wanted = request.headers.get("accept", "")
    return (
        request.method in ("GET", "HEAD")
        and "text/html" in wanted
        and not request.url.path.startswith(_PROGRAMS)
    )
