"""Sockets: the limits of a connection, and how its buffers are made small.

Small buffers make a reader's progress mean something: with the system's own a whole answer vanishes
into them and nobody ever hears that the reader is asleep. It refuses to know protocols.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from typing import TypeVar

from app.settings import Settings

P = TypeVar("P", bound=asyncio.Protocol)

#: Unacknowledged data for so long ends the connection (Linux), a full window included.
_USER_TIMEOUT_MS = 30_000


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """Seconds and bytes; see the settings of the same names."""

    header_s: float
    body_s: float
    send_s: float
    buffered_bytes: int
    unsent_bytes: int
    send_buffer_bytes: int

    @staticmethod
    def of(settings: Settings) -> SocketLimits:
        return SocketLimits(
            settings.header_s,
            settings.body_s,
            settings.send_s,
            settings.buffered_bytes,
            settings.unsent_bytes,
            settings.send_buffer_bytes,
        )


def with_limits(protocol: type[P], limits: SocketLimits) -> type[P]:
    """uvicorn makes a protocol by calling its class; this one's instances know their limits."""
    return type(f"Limited{protocol.__name__}", (protocol,), {"limits": limits})


def tune(transport: asyncio.Transport, limits: SocketLimits) -> None:
    """Make the buffers of a new connection small."""
    transport.set_write_buffer_limits(high=limits.buffered_bytes)
    sock = transport.get_extra_info("socket")
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if limits.send_buffer_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.send_buffer_bytes)
    # Linux has both, macOS the first; where they are missing the buffers are larger, not wrong.
    for name, value in (("TCP_NOTSENT_LOWAT", limits.unsent_bytes), ("TCP_USER_TIMEOUT", _USER_TIMEOUT_MS)):
        option = getattr(socket, name, None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
