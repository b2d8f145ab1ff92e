"""F08: a real nginx in front, with the file that operators copy, and with it spoilt on purpose."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from websockets.asyncio.client import connect

from drill.case import Finding, Scale
from drill.served import served
from drill.streams import QUESTION

_FILE = Path(__file__).parents[1] / "docs" / "operation" / "nginx.conf"
_NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
_TOKENS = 50
#: Arrivals this close together are one burst.
_BURST_S = 0.005


async def buffering(scale: Scale) -> Finding:
    """The copied file lets every piece through at once; with buffering and gzip on it comes in lumps."""
    if _NGINX is None:
        return Finding("nginx is not installed", False)
    # More than the minute after which the copied file ends a silent connection.
    idle_s = scale.lasting(1.2, 10.0) * 60
    async with (
        served() as server,
        nginx(server.port, spoilt=False) as url,
        nginx(server.port, spoilt=True) as careless,
    ):
        idle = asyncio.ensure_future(survives(url, idle_s))
        through, collected = await bursts(url), await bursts(careless)
        alive = await idle
    return Finding(
        f"{_TOKENS} tokens: {through} bursts through the copied file, {collected} with buffering and "
        f"gzip on; an idle socket lived {idle_s:.0f} s: {alive}",
        through >= 0.9 * _TOKENS and collected <= 0.1 * _TOKENS and alive,
    )


@asynccontextmanager
async def nginx(port: int, *, spoilt: bool) -> AsyncIterator[str]:
    """nginx on a free port before the server; ended when the block is left."""
    own = _free_port()
    text = _FILE.read_text().replace("127.0.0.1:8000", f"127.0.0.1:{port}")
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
            str(_NGINX), "-e", f"{folder}/log", "-c", f"{folder}/nginx.conf", "-g", "daemon off;"
        )
        try:
            url = f"http://127.0.0.1:{own}"
            await _answers(url, process)
            yield url
        finally:
            process.terminate()
            await process.wait()


async def bursts(url: str) -> int:
    """How many separate moments the tokens of one stream arrive at."""
    body = {"messages": QUESTION, "max_tokens": _TOKENS, "ignore_eos": True}
    headers = {"accept": "text/event-stream", "accept-encoding": "gzip"}
    moments: list[float] = []
    async with (
        httpx.AsyncClient(timeout=60) as http,
        http.stream("POST", f"{url}/api/replies", json=body, headers=headers) as answer,
    ):
        answer.raise_for_status()
        async for text in answer.aiter_text():
            if '"delta"' in text:
                moments.append(time.monotonic())
    gaps = [later - earlier for earlier, later in zip(moments, moments[1:], strict=False)]
    return 1 + sum(gap > _BURST_S for gap in gaps)


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
                    raise RuntimeError("nginx did not start") from None
                await asyncio.sleep(0.05)
