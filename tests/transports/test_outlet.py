"""The way out to one client: deadlines, and receipts when its kernel has confirmed a frame."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from app.transports.outlet import ConnectionGone, Outlet
from app.transports.sockets import SocketLimits, tune
from app.transports.wire import Carried, Wire
from tests.server import until

LIMITS = SocketLimits(15, 30, 10, buffered_bytes=4096, unsent_bytes=4096, send_buffer_bytes=0)


class ScriptedWire(Wire):
    """Its books say what the test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.books: Carried | None = Carried(0, 0)
        self.aborted = False

    def carried(self) -> Carried | None:
        return self.books

    def abort(self) -> None:
        self.aborted = True


async def no_send(frame: Any) -> None:
    """Takes everything."""


async def test_a_receipt_comes_when_the_bytes_of_its_frame_are_confirmed_and_not_before():
    wire = ScriptedWire()
    outlet = Outlet(no_send, wire)
    told: list[str] = []
    for n, name in enumerate("abc", 1):
        wire.books = Carried(n * 100, 0)
        await outlet.write(b"", lambda name=name: told.append(name))  # type: ignore[misc]
    assert told == []
    # Found while nothing is written, too.
    wire.books = Carried(300, 199)
    await until(lambda: told)
    assert told == ["a"]
    wire.books = Carried(400, 300)
    await outlet.write(b"", lambda: told.append("d"))
    assert told == ["a", "b", "c"]
    wire.books = Carried(400, 400)
    await until(lambda: told == ["a", "b", "c", "d"])


async def test_where_nobody_can_tell_a_frame_that_was_sent_is_confirmed():
    told: list[str] = []
    await Outlet(no_send, Wire()).write(b"", lambda: told.append("a"))
    assert told == ["a"]


async def test_a_connection_that_ends_confirms_nothing_and_is_looked_at_no_more():
    wire = ScriptedWire()
    outlet = Outlet(no_send, wire)
    told: list[str] = []
    wire.books = Carried(10, 0)
    await outlet.write(b"", lambda: told.append("a"))
    wire.books = None
    await until(lambda: outlet._look_later is None)
    assert told == [] and not outlet._untaken


async def test_a_client_that_was_cut_off_gets_no_more_and_gives_no_receipt():
    wire = ScriptedWire()

    async def until_cut_off(frame: Any) -> None:
        wire.stalled = True

    told: list[str] = []
    with pytest.raises(ConnectionGone):
        await Outlet(until_cut_off, wire).write(b"", lambda: told.append("a"))
    assert told == []


async def test_while_the_wire_is_not_sure_one_frame_of_four_is_heavy():
    wire = ScriptedWire()
    sent: list[tuple[str, int]] = []

    async def send(frame: Any) -> None:
        sent.append((frame, 0))

    async def send_heavy(frame: Any, least_bytes: int) -> None:
        sent.append((frame, least_bytes))

    outlet = Outlet(send, wire, send_heavy)
    for frame in "abcdefghij":
        wire.books = Carried(1, 1, weight=0 if frame > "g" else 700)
        await outlet.write(frame, lambda: None)
    assert [frame for frame, _ in sent] == list("abcdefghij")
    assert [frame for frame, weight in sent if weight == 700] == ["d", "h"]
    assert sum(weight for _, weight in sent) == 1400


def books(wire: Wire) -> Carried:
    carried = wire.carried()
    assert carried is not None
    return carried


Pair = tuple[asyncio.Transport, socket.socket]


@pytest.fixture
async def connect() -> AsyncIterator[Callable[[int | None], Awaitable[Pair]]]:
    """Makes TCP connections: our end tuned as a server's, and the other with a receive buffer of a size."""
    loop = asyncio.get_running_loop()
    ends: list[Any] = []

    async def make(receive_buffer: int | None) -> Pair:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            far = socket.socket()
            if receive_buffer is not None:
                far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            far.connect(listener.getsockname())
            near, _ = listener.accept()
        near.setblocking(False)
        transport, _ = await loop.create_connection(asyncio.Protocol, sock=near)
        tune(transport, LIMITS)
        ends.extend((transport.abort, far.close))
        return transport, far

    yield make
    for end in ends:
        end()


async def test_the_kernels_books_count_every_byte_once(connect):
    transport, far = await connect(None)
    wire = Wire(transport)
    assert wire.carried() == (0, 0, 0)
    for n in range(1, 4):
        transport.write(b"x" * 1000)
        assert books(wire).handed == n * 1000
    assert len(far.recv(3000, socket.MSG_WAITALL)) == 3000
    await until(lambda: wire.carried() == (3000, 3000, 0))
    wire.lose()
    assert wire.carried() is None


async def test_what_only_fills_a_small_receive_buffer_is_not_taken(connect):
    transport, far = await connect(4096)
    wire = Wire(transport)
    assert wire.carried() == (0, 0, 0)
    sent = 1000
    transport.write(b"x" * sent)
    await until(lambda: books(wire).weight)
    # All is confirmed, and whether anything is read nobody can say, until what it is sent is heavy enough.
    while weight := books(wire).weight:
        transport.write(b"x" * weight)
        sent += weight
        await asyncio.sleep(0.1)
    assert sent < 8192 and 1000 <= books(wire).taken < sent
    assert len(far.recv(sent, socket.MSG_WAITALL)) == sent
    await until(lambda: books(wire).taken == sent)


async def test_a_far_end_that_takes_nothing_more_leaves_the_rest_with_us(connect):
    transport, far = await connect(4096)
    wire = Wire(transport)
    wire.carried()
    transport.write(b"x" * 1_000_000)
    await until(lambda: books(wire).taken > 0 or books(wire).handed == 1_000_000)
    assert books(wire).handed == 1_000_000 and books(wire).taken < 10_000


async def test_a_connection_without_such_books_tells_nothing():
    near, far = socket.socketpair()
    transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=near)
    assert Wire(transport).carried() is None
    transport.abort()
    far.close()
