"""The lab's two nginx files do with a real nginx what the page says of them, where there is one."""

import asyncio
import shutil
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server import Running

FILES = Path(__file__).parents[2] / "docs" / "lab"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@asynccontextmanager
async def nginx(file: str, server: Running, folder: Path) -> AsyncIterator[str]:
    """nginx with one of the files in front of the server, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = (FILES / file).read_text().replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    (folder / file).write_text(text.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}"))
    assert NGINX is not None
    process = await asyncio.create_subprocess_exec(
        NGINX, "-p", str(folder), "-c", str(folder / file), "-g", "daemon off;"
    )
    try:
        async with asyncio.timeout(20), httpx.AsyncClient() as client:
            while True:
                try:
                    await client.get(f"http://127.0.0.1:{port}/healthz")
                    break
                except httpx.ConnectError:
                    assert process.returncode is None, "nginx did not start"
                    await asyncio.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.parametrize(("file", "streams"), [("careless-nginx.conf", False), ("mended-nginx.conf", True)])
async def test_one_file_eats_the_stream_and_the_other_does_not(
    serve: Callable[..., Any], tmp_path: Path, file: str, streams: bool
) -> None:
    running: Running = await serve()
    async with (
        nginx(file, running, tmp_path) as url,
        httpx.AsyncClient() as client,
        client.stream(
            "GET", f"{url}/api/probe?ticks=10&every_ms=60", headers={"accept-encoding": "gzip"}
        ) as stream,
    ):
        came = [time.monotonic() async for piece in stream.aiter_bytes() if piece]
    # Ten ticks take 0.6 s to make: they come in that time, or all of them at its end.
    assert (came[-1] - came[0] > 0.3) == streams
