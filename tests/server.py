"""A real server on a free port, for tests that need real sockets: as a task, or in a thread.

Never an in-process transport instead: it would hide every buffer that lies between us and a reader.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette

from app.engine.scripted import ScriptedEngine
from app.generation import Engine
from app.main import create_app
from app.reply.registry import Replies
from app.server import Server, make_server
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers; ``url`` has no slash at its end."""

    url: str
    port: int
    app: Starlette
    server: Server

    @property
    def ws(self) -> str:
        return self.url.replace("http", "ws", 1) + "/ws"

    @property
    def replies(self) -> Replies:
        replies = self.app.state.replies
        assert isinstance(replies, Replies)
        return replies

    @property
    def engine(self) -> Any:
        return self.app.state.engine


@asynccontextmanager
async def run_server(engine: Engine | None = None, **settings: Any) -> AsyncIterator[Running]:
    """Serve on this event loop; ``settings`` change the defaults."""
    chosen = Settings(**{"port": 0, "drain_s": 0.0, **settings})
    app = create_app(chosen, engine or ScriptedEngine())
    sock = _bound(chosen.host)
    server = make_server(app, chosen)
    task = asyncio.ensure_future(server._serve(sockets=[sock]))
    while not server.started:
        if task.done():
            task.result()
            raise RuntimeError("the server stopped before it had started")
        await asyncio.sleep(0.005)
    try:
        port = sock.getsockname()[1]
        yield Running(f"http://{chosen.host}:{port}", port, app, server)
    finally:
        server.should_exit = True
        await task
        sock.close()


@contextmanager
def run_server_in_thread(engine: Engine | None = None, **settings: Any) -> Iterator[Running]:
    """Serve from another thread with its own event loop, for tests that drive a browser."""
    started: threading.Event = threading.Event()
    box: list[Running] = []
    failures: list[BaseException] = []
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def main() -> None:
        ended = asyncio.Event()
        stop.append((asyncio.get_running_loop(), ended))
        async with run_server(engine, **settings) as running:
            box.append(running)
            started.set()
            await ended.wait()

    def body() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            failures.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=body, name="server")
    thread.start()
    started.wait(30)
    try:
        if not box:
            raise RuntimeError("the server did not start") from (failures[0] if failures else None)
        yield box[0]
    finally:
        if stop:
            loop, ended = stop[0]
            if not loop.is_closed():
                loop.call_soon_threadsafe(ended.set)
        thread.join(30)
        if failures:
            raise failures[0]


async def until(holds: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait until ``holds`` does, looking again and again; fails when it never does."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - any condition at all, so nobody could set an event
            await asyncio.sleep(0.002)


# Private


def _bound(host: str) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.bind((host, 0))
    return sock
