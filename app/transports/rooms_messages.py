"""The rooms' messages that are the socket's own: hello, ping, errors, and a frame as bytes. Pure.

Commands are app.rooms.commands; what a room shows is its audience's. docs/rooms-protocol.md tells all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal

import msgspec

from app.errors import BadRequest, FirstwordError, Forbidden, unreadable
from app.rooms.commands import MAX_COMMAND_BYTES
from app.rooms.keys import MAX_KEY_CHARS

Key = Annotated[str, msgspec.Meta(max_length=MAX_KEY_CHARS)]


class Hello(msgspec.Struct, frozen=True, tag="hello", forbid_unknown_fields=True):
    """Who this is. The teacher is known by the cookie, a phone by cookie or ``id``, a wall by ``token``."""

    role: Literal["host", "wall", "participant"]
    id: Key | None = None
    token: Key | None = None


class _Ping(msgspec.Struct, frozen=True, tag="ping", forbid_unknown_fields=True):
    t: float | None = None


class _Any(msgspec.Struct, frozen=True):
    type: str


_HELLO = msgspec.json.Decoder(Hello)
_PING = msgspec.json.Decoder(_Ping)
_ANY = msgspec.json.Decoder(_Any)
_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)


def read_hello(text: str | None) -> Hello:
    """The first message. Raises BadRequest."""
    try:
        return _HELLO.decode(text or "")
    except _UNREADABLE as error:
        raise unreadable("the first message must be a hello", error) from None


def type_of(text: str | None) -> str:
    """What a message is. Raises BadRequest when it is none; ``text`` None: it was no text frame."""
    if text is None:
        raise BadRequest("messages must be text frames holding JSON")
    if len(text) > MAX_COMMAND_BYTES:
        raise BadRequest(f"a message has at most {MAX_COMMAND_BYTES} characters, not {len(text)}")
    try:
        return _ANY.decode(text).type[:40]
    except _UNREADABLE as error:
        raise unreadable("the message cannot be read", error) from None


def read_ping(text: str) -> float | None:
    """A ping's own stamp, to be given back. Raises BadRequest."""
    try:
        return _PING.decode(text).t
    except _UNREADABLE as error:
        raise unreadable("the ping cannot be read", error) from None


def error_frame(error: FirstwordError, said: str) -> str:
    """What the sender of a refused message is told; ``said`` is its type."""
    frame = {"type": "error", "code": error.code, "message": error.message, "retryable": error.retryable,
             "param": error.param, "about": said}  # fmt: skip
    return msgspec.json.encode(frame).decode()


def close_code(error: FirstwordError) -> int:
    """Final codes for what trying again with the same words cannot change."""
    return 4401 if isinstance(error, Forbidden) else error.close_code


@lru_cache(maxsize=64)
def packet(frame: str) -> bytes:
    """A whole WebSocket text frame. Servers mask nothing, so all phones can have the same one."""
    data = frame.encode()
    if len(data) < 126:
        return bytes((0x81, len(data))) + data
    if len(data) < 65_536:
        return b"\x81\x7e" + len(data).to_bytes(2) + data
    return b"\x81\x7f" + len(data).to_bytes(8) + data
