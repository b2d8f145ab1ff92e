"""Rooms over HTTP: opening, joining, exporting, deleting, and the QR code. The rest is the socket's.

    POST   /api/rooms                        a new room; its teacher's key comes as a cookie
    GET    /api/rooms/{code}                 the room as whoever asks may see it
    DELETE /api/rooms/{code}                 forget everything                         (teacher)
    POST   /api/rooms/{code}/participants    join, or come back by {"id"} or cookie
    GET    /api/rooms/{code}/key             the key, to open the console elsewhere    (teacher)
    POST   /api/rooms/{code}/host            become the teacher by {"key"}
    GET    /api/rooms/{code}/addresses       where phones can reach this server now    (teacher)
    GET    /api/rooms/{code}/qr.svg?base=    the way in, as a picture
    GET    /api/rooms/{code}/export.csv|json what was said and measured                (teacher)
    GET    /api/preflight?bytes=             so many bytes, to see how fast they come

docs/rooms-protocol.md is the contract. This module refuses to know the rules of a room.
"""

from __future__ import annotations

import io
import re
import secrets

import segno
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from app.errors import BadRequest, Forbidden
from app.intake.fields import Fields, from_query, typed
from app.rooms import export
from app.rooms.addresses import lan_addresses, local_only, mdns_name
from app.rooms.commands import DeleteRoom
from app.rooms.keys import MAX_KEY_CHARS
from app.rooms.permission import HOST
from app.rooms.registry import Rooms
from app.rooms.stage import Stage
from app.settings import Settings
from app.transports import framing, rooms_socket
from app.transports.guard import Rules, host_name, local_address
from app.transports.http import read_json
from app.transports.rooms_door import Door
from app.transports.routing import route

_MAX_BODY_BYTES = 4096
_MAX_TITLE_CHARS = 80
_MAX_PREFLIGHT_BYTES = 2_000_000
_BASE = re.compile(r"https?://([^/?#@\s]{1,260})\Z")
_NO_STORE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class RoomRoutes:
    """The endpoints."""

    def __init__(self, door: Door, rules: Rules, host: str) -> None:
        self._door = door
        self._rules = rules
        self._host = host

    async def open(self, request: Request) -> Response:
        """POST /api/rooms."""
        fields = await _body(request)
        title = fields.text("title", "", _MAX_TITLE_CHARS).strip()
        fields.refuse_others()
        if not self._door.may_open(request):
            raise Forbidden("rooms are opened at this server's own machine (see FIRSTWORD_ROOM_HOSTS)")
        stage, key = self._door.rooms.open(title)
        # Before anybody hears of it: a code that is on the board must survive whatever comes.
        await self._door.rooms.flush()
        room = stage.room
        body = {"code": room.code, "title": room.title, "wall_token": room.wall_token}
        response = _json(body, 201)
        self._door.remember_host(request, response, stage, key)
        return response

    async def read(self, request: Request) -> Response:
        """GET /api/rooms/{code}."""
        stage = self._stage(request)
        is_host = stage.is_host(self._door.host_key(request, stage))
        frame = stage.view("host" if is_host else "participant")
        return Response(frame, 200, _NO_STORE, framing.JSON)

    async def delete(self, request: Request) -> Response:
        """DELETE /api/rooms/{code}."""
        stage = self._stage_of_host(request)
        stage.apply(DeleteRoom(), HOST)
        await self._door.rooms.flush()
        return Response(status_code=204)

    async def join(self, request: Request) -> Response:
        """POST /api/rooms/{code}/participants."""
        fields = await _body(request)
        # Found only now: while a body comes a room may go.
        stage = self._stage(request)
        id = fields.text("id", None, MAX_KEY_CHARS)
        fields.refuse_others()
        known = [key for key in (self._door.phone_key(request, stage), id) if stage.number_of(key)]
        number, key = stage.admit(known[0] if known else None)
        response = _json({"id": key, "number": number, "code": stage.room.code})
        self._door.remember_phone(request, response, stage, key)
        return response

    async def show_key(self, request: Request) -> Response:
        """GET /api/rooms/{code}/key."""
        stage = self._stage_of_host(request)
        return _json({"key": self._door.host_key(request, stage)})

    async def become_host(self, request: Request) -> Response:
        """POST /api/rooms/{code}/host."""
        fields = await _body(request)
        stage = self._stage(request)
        key = fields.string("key", MAX_KEY_CHARS)
        fields.refuse_others()
        if not stage.is_host(key):
            raise self._door.refuse_key(request)
        response = Response(status_code=204)
        self._door.remember_host(request, response, stage, key)
        return response

    async def addresses(self, request: Request) -> Response:
        """GET /api/rooms/{code}/addresses."""
        self._stage_of_host(request)
        server = request.scope.get("server")
        port = f":{server[1]}" if server else ""
        # Who listens on the loopback alone must not send a class to an address where nobody answers.
        if local_only(self._host):
            return _json({"bases": []})
        names = [*lan_addresses(), *([name] if (name := mdns_name()) in self._rules.hosts else [])]
        return _json({"bases": [f"http://{name}{port}" for name in names]})

    async def qr(self, request: Request) -> Response:
        """GET /api/rooms/{code}/qr.svg."""
        stage = self._stage(request)
        fields = from_query(request.query_params.multi_items(), {})
        base = self._checked_base(fields.string("base", 300), request)
        fields.refuse_others()
        return Response(qr_svg(f"{base}/j#{stage.room.code}"), 200, _NO_STORE, "image/svg+xml")

    async def csv(self, request: Request) -> Response:
        """GET /api/rooms/{code}/export.csv."""
        room = self._stage_of_host(request).room
        return _file(export.to_csv(room).encode(), "text/csv; charset=utf-8", f"firstword-{room.code}.csv")

    async def json(self, request: Request) -> Response:
        """GET /api/rooms/{code}/export.json."""
        room = self._stage_of_host(request).room
        return _file(export.to_json(room), framing.JSON, f"firstword-{room.code}.json")

    async def preflight(self, request: Request) -> Response:
        """GET /api/preflight."""
        fields = from_query(request.query_params.multi_items(), {"bytes": typed})
        size = fields.integer("bytes", 1, _MAX_PREFLIGHT_BYTES, 200_000)
        fields.refuse_others()
        # By chance, so that nothing on the way can make them fewer.
        return Response(secrets.token_bytes(size), 200, _NO_STORE, "application/octet-stream")

    # Private

    def _stage(self, request: Request) -> Stage:
        return self._door.find(request, request.path_params["code"])

    def _stage_of_host(self, request: Request) -> Stage:
        stage = self._stage(request)
        self._door.check_host(request, stage)
        return stage

    def _checked_base(self, base: str, request: Request) -> str:
        """A base address of ours: a picture that leads elsewhere must not come from us."""
        match = _BASE.match(base)
        name = host_name(match[1].lower()) if match else None
        ours = self._rules.hosts | {local_address(request.scope), *lan_addresses()}
        if name is None or name not in ours:
            raise BadRequest(
                "base must be http:// or https:// and a name or address of this server, with or without a "
                "port, and nothing after it",
                param="base",
            )
        return base


def qr_svg(text: str) -> bytes:
    """``text`` as a QR code: dark on white whatever the page's theme, with its quiet zone of four."""
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        out, kind="svg", border=4, dark="#000", light="#fff", xmldecl=False, omitsize=True, nl=False
    )
    return out.getvalue()


def routes(rooms: Rooms, settings: Settings) -> list[BaseRoute]:
    """All routes of the classroom, the socket included."""
    door = Door(rooms, settings)
    found = RoomRoutes(door, Rules.of(settings), settings.host)
    return [
        route("/api/rooms", found.open, "POST"),
        route("/api/rooms/{code}", found.read, "GET"),
        route("/api/rooms/{code}", found.delete, "DELETE"),
        route("/api/rooms/{code}/participants", found.join, "POST"),
        route("/api/rooms/{code}/key", found.show_key, "GET"),
        route("/api/rooms/{code}/host", found.become_host, "POST"),
        route("/api/rooms/{code}/addresses", found.addresses, "GET"),
        route("/api/rooms/{code}/qr.svg", found.qr, "GET"),
        route("/api/rooms/{code}/export.csv", found.csv, "GET"),
        route("/api/rooms/{code}/export.json", found.json, "GET"),
        route("/api/preflight", found.preflight, "GET"),
        *rooms_socket.routes(door, settings),
    ]


# Private


async def _body(request: Request) -> Fields:
    """The request's JSON object; nothing at all is an empty one."""
    if request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers:
        return Fields({})
    return Fields(await read_json(request, _MAX_BODY_BYTES))


def _json(value: object, status: int = 200) -> Response:
    return Response(framing.json_bytes(value), status, _NO_STORE, framing.JSON)


def _file(data: bytes, media_type: str, name: str) -> Response:
    headers = {**_NO_STORE, "content-disposition": f'attachment; filename="{name}"'}
    return Response(data, 200, headers, media_type)
