"""The rooms' door: which room is meant, and who asks: for the HTTP routes and the socket alike.

A code is looked up here and nowhere else, so that guessing is limited everywhere. Who somebody is
shows in a cookie that scripts cannot read, or, for phones and walls, in what they say: a phone keeps
its id in two places because each may be lost. It refuses to know what a room is for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from starlette.requests import HTTPConnection
from starlette.responses import Response

from app.errors import Forbidden, NotFound, RateLimited
from app.rooms.code import normal_code
from app.rooms.guesses import Guesses
from app.rooms.keys import MAX_KEY_CHARS
from app.rooms.registry import Rooms
from app.rooms.stage import Stage
from app.settings import Settings

_HOST_COOKIE = "firstword_host_"
_PHONE_COOKIE = "firstword_phone_"


class Door:
    """Finds rooms for addresses, and knows people again by their cookies."""

    def __init__(
        self, rooms: Rooms, settings: Settings, now_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self.rooms = rooms
        self._settings = settings
        self._now_ns = now_ns
        self._guesses = Guesses(settings.room_guesses_per_minute)

    def find(self, connection: HTTPConnection, text: str) -> Stage:
        """The room of a code as it was typed. Raises NotFound, or RateLimited after many of them."""
        code = normal_code(text) or ""
        address, now_ns = address_of(connection), self._now_ns()
        if not self._guesses.may_try(address, code, now_ns):
            raise RateLimited("too many codes of no room came from this address; wait a minute", param="code")
        try:
            stage = self.rooms.find(code)
        except NotFound:
            self._guesses.fail(address, now_ns)
            raise
        self._guesses.succeed(address, code)
        return stage

    def check_host(self, connection: HTTPConnection, stage: Stage) -> None:
        """Raises Forbidden for everybody but the room's teacher."""
        if not stage.is_host(self.host_key(connection, stage)):
            raise Forbidden("this is for the teacher of the room")

    def refuse_key(self, connection: HTTPConnection) -> Forbidden:
        """A wrong key or token counts as a guess."""
        self._guesses.fail(address_of(connection), self._now_ns())
        return Forbidden("this key is none of this room")

    def host_key(self, connection: HTTPConnection, stage: Stage) -> str | None:
        """The teacher's key that the browser sent along."""
        return _cookie(connection.cookies, _HOST_COOKIE, stage)

    def phone_key(self, connection: HTTPConnection, stage: Stage) -> str | None:
        """The phone's secret that the browser sent along."""
        return _cookie(connection.cookies, _PHONE_COOKIE, stage)

    def remember_host(self, connection: HTTPConnection, response: Response, stage: Stage, key: str) -> None:
        """Set the teacher's cookie."""
        self._set(connection, response, _HOST_COOKIE + stage.room.code, key)

    def remember_phone(self, connection: HTTPConnection, response: Response, stage: Stage, key: str) -> None:
        """Set a phone's cookie."""
        self._set(connection, response, _PHONE_COOKIE + stage.room.code, key)

    def may_open(self, connection: HTTPConnection) -> bool:
        """Whether whoever asks may open rooms: they sit at this machine, or anybody may."""
        if self._settings.room_hosts == "anyone":
            return True
        address, server = address_of(connection), connection.scope.get("server")
        return address in ("127.0.0.1", "::1") or (server is not None and address == server[0])

    # Private

    def _set(self, connection: HTTPConnection, response: Response, name: str, key: str) -> None:
        response.set_cookie(
            name,
            key,
            max_age=round(self._settings.room_hours * 3600),
            path="/",
            secure=connection.url.scheme in ("https", "wss"),
            httponly=True,
            samesite="strict",
        )


def address_of(connection: HTTPConnection) -> str:
    """Where a request comes from."""
    return connection.client.host if connection.client is not None else ""


# Private


def _cookie(cookies: Mapping[str, str], prefix: str, stage: Stage) -> str | None:
    key = cookies.get(prefix + stage.room.code)
    return key if key is not None and len(key) <= MAX_KEY_CHARS else None
