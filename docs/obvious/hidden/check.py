"""The comfortable test passes for both: in-process clients hand over whole bodies. A socket does not lie."""

import asyncio
import time
from types import ModuleType

import httpx
import uvicorn


async def comfortable(streamer: ModuleType) -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(streamer.app), base_url="http://test"
    ) as client:
        assert (await client.get("/")).text == "one two three four five"


async def honest(streamer: ModuleType) -> None:
    server = uvicorn.Server(uvicorn.Config(streamer.app, port=0, lifespan="off", log_level="error"))
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    async with httpx.AsyncClient() as client, client.stream("GET", url) as stream:
        came = [time.monotonic() async for _ in stream.aiter_raw()]
    server.should_exit = True
    await running
    assert came[-1] - came[0] > 0.1, "everything came at once"


def check(streamer: ModuleType) -> None:
    asyncio.run(comfortable(streamer))
    asyncio.run(honest(streamer))
