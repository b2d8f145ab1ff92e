"""F26 and F27 on the wire: whoever asks under a foreign name, or from a foreign page, gets nothing."""

from __future__ import annotations

import httpx
import pytest

from tests.server import run_server
from tests.socket.clients import raw

UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
)
OURS = [b"Host: localhost\r\n", b"Host: 127.0.0.1:8000\r\n", b"Host: [::1]:8000\r\n", b"HOST: LocalHost\r\n"]
FOREIGN = [
    b"Host: evil.com\r\n",
    b"Host: 127.0.0.1.nip.io\r\n",
    b"Host: \r\n",
    b"",
    b"Host: localhost\r\nHost: localhost\r\n",
    b"Host: localhost\r\nHost: evil.com\r\n",
    b"Host: localhost@evil.com\r\n",
    b"Host: localhost, evil.com\r\n",
    b"Host: evil.com\r\nX-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\n",
    b"Host: evil.com\r\nX-Forwarded-For: 127.0.0.1\r\n",
]
PAGES = [
    b"Origin: http://evil.com\r\n",
    b"Origin: null\r\n",
    b"Origin: https://localhost\r\n",
    b"Origin: http://localhost:81\r\n",
    b"Origin: http://localhost.evil.com\r\n",
    b"Origin: HTTP://localhost\r\n",
]


async def status(port: int, target: bytes, headers: bytes) -> int:
    """The status of the answer to a GET, of a page or of a WebSocket."""
    async with raw(port) as client:
        await client.send(b"GET " + target + b" HTTP/1.1\r\n" + headers + b"\r\n")
        return int((await client.read_until(b"\r\n")).split()[1])


@pytest.mark.parametrize("headers", OURS)
async def test_our_names_are_answered(headers):
    async with run_server() as s:
        assert await status(s.port, b"/healthz", headers) == 200
        assert await status(s.port, b"/ws", headers + UPGRADE) == 101


@pytest.mark.parametrize("headers", FOREIGN)
async def test_foreign_names_are_answered_with_400_on_http_and_websocket(headers):
    async with run_server() as s:
        assert await status(s.port, b"/healthz", headers) == 400
        assert await status(s.port, b"/ws", headers + UPGRADE) == 400
        assert await status(s.port, b"/ws/rooms/K7QX2M", headers + UPGRADE) == 400


@pytest.mark.parametrize("page", PAGES)
async def test_a_foreign_page_gets_no_socket(page):
    async with run_server() as s:
        for path in (b"/ws", b"/ws/rooms/K7QX2M"):
            assert await status(s.port, path, b"Host: localhost\r\n" + page + UPGRADE) == 403


async def test_two_origins_are_no_handshake():
    two = b"Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.com\r\n"
    async with run_server() as s:
        # The library refuses them before the guard can.
        assert await status(s.port, b"/ws", two + UPGRADE) in (400, 403)


async def test_a_forged_address_does_not_restart_the_count_of_guesses():
    async with run_server(room_guesses_per_minute=3) as s, httpx.AsyncClient(base_url=s.url) as http:
        found = []
        for place, sign in enumerate("ABCDE"):
            forged = {"x-forwarded-for": f"10.0.0.{place}", "forwarded": f"for=10.0.0.{place}"}
            found.append((await http.get(f"/api/rooms/ZZZZZ{sign}", headers=forged)).status_code)
        assert found == [404] * 3 + [429] * 2


@pytest.mark.parametrize("joined", [False, True], ids=["two headers", "one header"])
async def test_behind_a_proxy_that_is_trusted_only_its_own_word_counts(joined):
    """A client writes what it likes in front; what the proxy adds comes last, alone or behind a comma."""
    trusting = run_server(room_guesses_per_minute=3, trusted_proxies="127.0.0.1")
    async with trusting as s, httpx.AsyncClient(base_url=s.url) as http:
        found = []
        for place, sign in enumerate("ABCDE"):
            invented, real = f"10.0.0.{place}", "203.0.113.9"
            values = [f"{invented}, {real}"] if joined else [invented, real]
            headers = [("x-forwarded-for", value) for value in values]
            found.append((await http.get(f"/api/rooms/ZZZZZ{sign}", headers=headers)).status_code)
        other = await http.get("/api/rooms/ZZZZZF", headers={"x-forwarded-for": "203.0.113.10"})
    assert found == [404] * 3 + [429] * 2
    assert other.status_code == 404
