"""One reply over gRPC, read by the server's own client, with the bytes that came: no page can do that itself.

Between the client and our gRPC port stands a tap: it passes every byte on at once and tells the frames
in which the server's bytes come. It refuses to know what a page makes of them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio

from app.lab.http2_frames import FrameSplitter
from app.settings import Settings
from app.transports.grpc_messages import SERVICE, AttachRequest, Event
from app.transports.guard import reachable
from app.transports.outlet import beside

_READ_BYTES = 65_536
#: News that wait for a slow page; then the tap waits, and so does the call.
_MAX_NEWS = 256
#: What a page is told; None: that was all.
News = asyncio.Queue[dict[str, Any] | None]


async def grpc_news(reply: str, settings: Settings) -> AsyncIterator[dict[str, Any]]:
    """``frame``s as the server sent them, ``event``s as the client understood them, and the ``status``."""
    news: News = asyncio.Queue(_MAX_NEWS)
    passing: set[asyncio.Task[None]] = set()

    def tapped(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_pass_on(client, to_client, settings, news))
        passing.add(task)
        task.add_done_callback(passing.discard)

    tap = await asyncio.start_server(tapped, "127.0.0.1", 0)
    port = tap.sockets[0].getsockname()[1]
    calling = asyncio.create_task(_call(reply, port, settings, news))
    try:
        while (item := await news.get()) is not None:
            yield item
    finally:
        tap.close()
        # Nobody takes news any more: whoever waits to tell some would wait for ever.
        running = (calling, *passing)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


# Private


async def _call(reply: str, port: int, settings: Settings, news: News) -> None:
    metadata = [("authorization", f"Bearer {settings.api_key}")] if settings.api_key else []
    # Connections of one process are shared unless told otherwise, and this one has an ear on it.
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        call = channel.unary_stream(
            f"/{SERVICE}/Attach",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=Event.FromString,
        )(AttachRequest(reply=reply), metadata=metadata)
        try:
            async for message in call:
                await news.put({"type": "event", "event": _event(message)})
        except grpc.aio.AioRpcError:
            pass  # the status says it
        code, details = await call.code(), await call.details()
        await news.put({"type": "status", "code": code.name, "message": details or ""})
    await news.put(None)


async def _pass_on(
    client: asyncio.StreamReader, to_client: asyncio.StreamWriter, settings: Settings, news: News
) -> None:
    """One connection through the tap, for as long as both ends live."""
    splitter = FrameSplitter()
    with contextlib.closing(to_client), contextlib.suppress(OSError):
        server, to_server = await asyncio.open_connection(reachable(settings.host), settings.grpc_port)
        async with beside(_pass_up(client, to_server)):
            while data := await server.read(_READ_BYTES):
                to_client.write(data)
                for frame in splitter.feed(data):
                    told = base64.b64encode(frame.data).decode()
                    await news.put({"type": "frame", "name": frame.name, "data": told})
                await to_client.drain()


async def _pass_up(client: asyncio.StreamReader, to_server: asyncio.StreamWriter) -> None:
    with contextlib.closing(to_server):
        while data := await client.read(_READ_BYTES):
            to_server.write(data)
            await to_server.drain()


def _event(message: Any) -> dict[str, Any]:
    """What a page has to know of it, in the names of our own wire."""
    kind = message.WhichOneof("event")
    event = getattr(message, kind)
    fields = ("reply", "seq", "text", "tokens", "finish_reason", "code", "message")
    return {"type": kind, **{name: getattr(event, name) for name in fields if hasattr(event, name)}}
