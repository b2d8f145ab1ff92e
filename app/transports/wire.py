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
from typing import Any, NamedTuple

#: The kernel's books of a connection (Linux 5.4, ``struct tcp_info``): bytes confirmed by the far end,
#: bytes not sent yet, bytes sent in all and those sent again, bytes that the far end has room for.
_TCP_INFO = getattr(socket, "TCP_INFO", None)
_BOOKS = struct.Struct("=120xQ16xI52xQQ12xI")
#: A window below this, and below half of the widest, is one that nobody empties: who reads has to open
#: it again to at least a half (RFC 1122, 4.2.3.3), unless its system is short of memory.
_SMALL_WINDOW_BYTES = 4096

_KEY = "firstword.wire"
#: SO_LINGER, on, 0 s: close by a reset, so that the kernel keeps nothing for who never reads.
_NO_LINGER = struct.pack("ii", 1, 0)


class Carried(NamedTuple):
    """Bytes of one connection, counted from its beginning."""

    #: Written by us, whether they have left this machine or not.
    handed: int
    #: Those of them that the far end's kernel has confirmed, while its program went on reading.
    taken: int


class Wire:
    """One transport. Without one (another server than ours) nothing happens."""

    def __init__(self, transport: asyncio.Transport | None = None) -> None:
        self._transport = transport
        self._widest_window = 0
        self._taken = 0

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

    def keep_short(self, unsent_bytes: int) -> None:
        """Let the kernel hold so little that is not sent yet: what comes late is then merged here instead.

        Where the system has no such option (TCP_NOTSENT_LOWAT) its buffers stay what they are.
        """
        sock = self._transport.get_extra_info("socket") if self._transport is not None else None
        option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
        if option is not None and sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, option, unsent_bytes)

    @property
    def buffered_bytes(self) -> int:
        """What waits in our own memory to be taken by the kernel."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def carried(self) -> Carried | None:
        """How far the connection is; None when there is none or its kernel does not tell.

        What waits in our buffers is nobody's progress. What fills up the far end's is none either, as
        soon as its shrinking window tells of it, which a large buffer does late.
        """
        sock = self._transport.get_extra_info("socket") if self._transport is not None else None
        if sock is None or _TCP_INFO is None or sock.fileno() < 0:
            return None
        try:
            books = sock.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _BOOKS.size)
        except OSError:
            return None  # a socket of another family
        if len(books) < _BOOKS.size:
            return None
        confirmed, unsent, sent, sent_again, window = _BOOKS.unpack(books)
        self._widest_window = max(self._widest_window, window)
        if window >= min(self._widest_window // 2, _SMALL_WINDOW_BYTES):
            self._taken = confirmed
        return Carried(sent - sent_again + unsent + self.buffered_bytes, self._taken)


def wire_of(scope: MutableMapping[str, Any]) -> Wire:
    """The connection's wire."""
    wire = (scope.get("extensions") or {}).get(_KEY)
    return wire if isinstance(wire, Wire) else Wire()


def put_wire(scope: MutableMapping[str, Any], wire: Wire) -> None:
    """Hand the wire to whoever answers this request."""
    scope.setdefault("extensions", {})[_KEY] = wire
