"""Wire: the raw end of one client's connection, for what ASGI cannot say.

A server's own close waits until everything is sent, and to a client that does not read that is
never. ``abort`` ends such a connection at once; ``cut`` ends it after what was written, without
the last chunk, which is the only way that plain text has of saying "this is not all". Our protocol
classes (sockets) put a Wire into each scope, and tell it when bytes begin to wait for the client:
one that takes nothing for ``send_s`` is cut off, whatever it is that we send. It refuses to know what.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import MutableMapping
from typing import Any, NamedTuple

from app.transports.window import Window

#: The kernel's books of a connection (Linux 5.4, ``struct tcp_info``): bytes confirmed by the far end,
#: bytes not sent yet, bytes sent in all and those sent again, bytes that the far end has room for.
_TCP_INFO = getattr(socket, "TCP_INFO", None)
_BOOKS = struct.Struct("=120xQ16xI52xQQ12xI")

#: Of the same: packets on their way, and milliseconds since the far end's last sign.
_SIGNS = struct.Struct("=24xI28xI")
#: So long without a sign, with packets on their way, is a line that has been cut, not a reader that sleeps.
_DEAD_MS = 5000

_KEY = "firstword.wire"
#: SO_LINGER, on, 0 s: close by a reset, so that the kernel keeps nothing for who never reads.
_NO_LINGER = struct.pack("ii", 1, 0)


class Carried(NamedTuple):
    """Bytes of one connection, counted from its beginning."""

    #: Written by us, whether they have left this machine or not.
    handed: int
    #: Those of them that have arrived at the far end and, as far as its window tells, were read there.
    taken: int
    #: So many more at once would show whether anybody reads there; 0: that is known, or cannot be.
    weight: int = 0


class Wire:
    """One transport. Without one (another server than ours) nothing happens."""

    def __init__(self, transport: asyncio.Transport | None = None, send_s: float = 10.0) -> None:
        self._transport = transport
        self._socket = transport.get_extra_info("socket") if transport is not None else None
        self._send_s = send_s
        self._deadline: asyncio.TimerHandle | None = None
        self._window = Window()
        #: Whether the client took nothing for too long, and was cut off.
        self.stalled = False

    def lose(self) -> None:
        """The connection is over: from here on its file descriptor may be somebody else's."""
        self.flow()
        self._transport = self._socket = None

    def abort(self) -> None:
        """End the connection now, by a reset; what is not sent yet is lost. Idempotent."""
        if self._transport is None:
            return
        if self._socket is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self._transport.abort()

    def cut(self) -> None:
        """End the connection after what was written, whatever the protocol still expects."""
        if self._transport is not None:
            self._transport.close()

    def block(self) -> None:
        """Our buffer is full: from now on the client has ``send_s`` to take something of it."""
        if self._deadline is None:
            self._wait(self.buffered_bytes)

    def flow(self) -> None:
        """There is room in our buffer again."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

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
        option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
        if option is not None and self._socket is not None and self._is_tcp:
            self._socket.setsockopt(socket.IPPROTO_TCP, option, unsent_bytes)

    @property
    def buffered_bytes(self) -> int:
        """What waits in our own memory to be taken by the kernel."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def carried(self) -> Carried | None:
        """How far the connection is; None when there is none or its kernel does not tell (Linux does).

        What waits in our buffers is nobody's progress, and what fills a small one at the far end is
        none either (see window). Behind a proxy the proxy is the far end.
        """
        books = self._look_up(_BOOKS)
        if books is None:
            return None
        confirmed, unsent, sent, sent_again, room = books
        self._window.hear(confirmed, room)
        handed = sent - sent_again + unsent + self.buffered_bytes
        return Carried(handed, self._window.taken, self._window.weight)

    def cut_if_dead(self) -> bool:
        """End a connection whose far end confirms nothing any more; whether it was so.

        The machine of a reader that merely does not read confirms all the same. False where the
        kernel does not tell.
        """
        under_way, silent_ms = self._look_up(_SIGNS) or (0, 0)
        if not under_way or silent_ms < _DEAD_MS:
            return False
        self.abort()
        return True

    # Private

    def _look_up(self, layout: struct.Struct) -> tuple[int, ...] | None:
        if self._socket is None or _TCP_INFO is None:
            return None
        try:
            books = self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, layout.size)
        except OSError:
            return None  # a socket of another family, or one that is closed
        return layout.unpack(books) if len(books) == layout.size else None

    @property
    def _is_tcp(self) -> bool:
        return self._socket is not None and self._socket.family in (socket.AF_INET, socket.AF_INET6)

    def _wait(self, waiting_bytes: int) -> None:
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(self._send_s, self._stall, waiting_bytes)

    def _stall(self, waited_bytes: int) -> None:
        self._deadline = None
        if (waiting_bytes := self.buffered_bytes) < waited_bytes:
            # Slow, but it takes something: a long frame over a poor line.
            self._wait(waiting_bytes)
            return
        self.stalled = True
        self.abort()


def wire_of(scope: MutableMapping[str, Any]) -> Wire:
    """The connection's wire."""
    wire = (scope.get("extensions") or {}).get(_KEY)
    return wire if isinstance(wire, Wire) else Wire()


def put_wire(scope: MutableMapping[str, Any], wire: Wire) -> None:
    """Hand the wire to whoever answers this request."""
    scope.setdefault("extensions", {})[_KEY] = wire
