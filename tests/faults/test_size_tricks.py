"""F21 and F22: small messages that would cost much memory end their socket before they do."""

from __future__ import annotations

import contextlib
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest

from tests.faults.frames import HANDSHAKE, frame
from tests.server import run_server
from tests.socket.clients import Raw, raw

MIB = 1 << 20


class Peak:
    bytes = 0


@contextlib.contextmanager
def peak() -> Iterator[Peak]:
    """Memory that Python allocated at most within, beyond what there was."""
    found = Peak()
    tracemalloc.start()
    try:
        yield found
        found.bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


async def shake_hands(client: Raw) -> None:
    await client.send(HANDSHAKE)
    assert b" 101 " in await client.read_until(b"\r\n\r\n")


async def test_a_message_of_one_byte_too_many_is_refused_by_its_head():
    async with run_server() as s, raw(s.port) as client:
        await shake_hands(client)
        # The payload itself is never sent: its announcement is enough.
        await client.send(frame(1, b"x" * 65_537)[:14])
        assert (1009).to_bytes(2, "big") in await client.read_all()


async def test_a_message_of_the_largest_size_is_read():
    async with run_server() as s, raw(s.port) as client:
        await shake_hands(client)
        await client.send(frame(1, b" " * 65_536))
        assert b"invalid_request" in await client.read_until(b"}")


async def test_fragments_that_grow_beyond_the_limit_together_are_refused():
    async with run_server() as s, raw(s.port) as client:
        await shake_hands(client)
        piece = frame(0, b"x" * 20_000, fin=False)
        with contextlib.suppress(ConnectionError):
            await client.send(frame(1, b"", fin=False) + piece * 4)
        assert (1009).to_bytes(2, "big") in await client.read_all()


async def test_a_million_empty_fragments_are_not_collected():
    flood = frame(1, b"x", fin=False) + frame(0, b"", fin=False) * 1_000_000
    async with run_server() as s, raw(s.port) as client:
        await shake_hands(client)
        with peak() as used:
            with contextlib.suppress(ConnectionError):
                await client.send(flood)
            await client.read_all()
        assert used.bytes < 4 * MIB


@pytest.mark.parametrize("offered", [True, False])
async def test_a_deflate_bomb_is_neither_agreed_to_nor_inflated(offered):
    deflate = zlib.compressobj(9, wbits=-15)
    bomb = deflate.compress(bytes(32 * MIB)) + deflate.flush()
    hello = HANDSHAKE
    if offered:
        hello = HANDSHAKE[:-2] + b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    async with run_server() as s, raw(s.port) as client:
        await client.send(hello)
        assert b"permessage-deflate" not in await client.read_until(b"\r\n\r\n")
        with peak() as used:
            with contextlib.suppress(ConnectionError):
                await client.send(frame(1, bomb, rsv=4))
            answer = await client.read_all()
        assert (1002).to_bytes(2, "big") in answer or answer == b""
        assert used.bytes < 1 * MIB
