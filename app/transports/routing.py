"""Routing: a route for exactly the methods that it names.

Starlette adds HEAD to every GET. Where an answer is made while it is being read, a HEAD would have all
of it made for nobody: a reply, a probe's minutes, a lab's users. It refuses to know what is answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp


def route(path: str, endpoint: Callable[[Request], Awaitable[ASGIApp]], *methods: str) -> Route:
    """The route; other methods get 405."""
    found = Route(path, endpoint, methods=list(methods))
    found.methods = set(methods)
    return found
