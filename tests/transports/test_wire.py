"""Wire: whose line is dead and who merely does not read, by a real socket."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

import pytest

from app.transports import wire as wires
from app.transports.wire import Wire


async def test_a_client_that_does_not_read_is_not_cut_off_as_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wires, "_DEAD_MS", 0)
    connected: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda _, writer: connected.set_result(writer), "127.0.0.1", 0)
    with socket.create_connection(server.sockets[0].getsockname()):
        writer = await connected
        wire = Wire(cast(asyncio.Transport, writer.transport))
        writer.write(b"x" * 10_000_000)
        # Its kernel confirms all that fits there, and every question whether there is room again.
        async with asyncio.timeout(10):
            while (signs := wire._look_up(wires._SIGNS)) is None or signs[0] > 0:  # noqa: ASYNC110 - the kernel sets no event
                await asyncio.sleep(0.01)
        assert wire.buffered_bytes > 0
        assert not wire.cut_if_dead()
        assert not writer.transport.is_closing()
        writer.transport.abort()
    server.close()
    wire.lose()
    assert not wire.cut_if_dead()
