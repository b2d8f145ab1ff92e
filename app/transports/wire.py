"""Wire: the raw end of one client's connection, for what ASGI cannot say.

A server's own close waits until everything is sent, and to a client that does not read that is
never. ``abort`` ends such a connection at once; ``cut`` ends it after what was written, without
the last chunk, which is the only way that plain text has of saying "this is not all". Our protocol
classes (sockets) put a Wire into each scope. It refuses to know what is sent.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import MutableMapping
from typing import Any

_KEY = "firstword.wire"
#: SO_LINGER, on, 0 s: close by a reset, so that the kernel keeps nothing for who never reads.
_NO_LINGER = struct.pack("ii", 1, 0)


class Wire:
    """One transport. Without one (another server than ours) nothing happens."""

    def __init__(self, transport: asyncio.Transport | None = None) -> None:
        self._transport = transport

    def lose(self) -> None:
        """The connection is over: from here on its file descriptor may be somebody else's."""
        self._transport = None

    def abort(self) -> None:
        """End the connection now, by a reset; what is not sent yet is lost. Idempotent."""
        if self._transport is None:
            return
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self._transport.abort()

    def cut(self) -> None:
        """End the connection after what was written, whatever the protocol still expects."""
        if self._transport is not None:
            self._transport.close()

    def write(self, data: bytes) -> bool:
        """Hand bytes to the connection as they are; False when it takes none.

        Only for a protocol's own whole frames, and only while nothing is buffered.
        """
        if self._transport is None or self._transport.is_closing():
            return False
        self._transport.write(data)
        return True

    @property
    def buffered_bytes(self) -> int:
        """What waits in our own memory to be taken by the kernel."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0


def wire_of(scope: MutableMapping[str, Any]) -> Wire:
    """The connection's wire."""
    wire = (scope.get("extensions") or {}).get(_KEY)
    return wire if isinstance(wire, Wire) else Wire()


def put_wire(scope: MutableMapping[str, Any], wire: Wire) -> None:
    """Hand the wire to whoever answers this request."""
    scope.setdefault("extensions", {})[_KEY] = wire
