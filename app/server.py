"""Server: the application on a port, with our sockets, our signals and a drain at the end.

On SIGTERM or SIGINT new work is refused at once (and ``/readyz`` says so) while what runs may finish
for ``drain_s``; what is left then ends with ``server_shutdown`` in every stream, and only then are
connections closed. A second signal ends it without waiting. It refuses to know what is served.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from app.errors import StartupError
from app.generation import Engine
from app.main import create_app, make_engine
from app.reply.registry import Replies
from app.settings import Settings
from app.transports.guard import bracketed, reachable
from app.transports.http_protocol import HttpProtocol
from app.transports.sockets import SocketLimits, with_limits
from app.transports.websocket_protocol import WebSocketProtocol

#: How long the last frames may take to be handed out after the drain.
_LAST_FRAMES_S = 2.0
_SOON_S = 0.01
_BACKLOG = 2048
#: How often the engine's progress is looked at for the terminal.
_LOOK_S = 0.25
#: A class of phones and its teacher; some systems begin with 256.
_DESCRIPTORS = 65_536


class Server(uvicorn.Server):
    """uvicorn's server, draining the registry before it closes connections."""

    def __init__(self, config: uvicorn.Config, replies: Replies, drain_s: float) -> None:
        super().__init__(config)
        self._replies = replies
        self._drain_s = drain_s
        self._hurry = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The signal handler: it runs between any two instructions, so it only leaves a note."""
        again = self.should_exit
        # Not noted in uvicorn's own list: it would raise them again, and a drained end is a good one.
        self.should_exit = True
        if again:
            self.force_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._hurry.set if again else self._refuse_new)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, then close. Listeners stay open meanwhile: a refusal says more than silence."""
        self._refuse_new()
        drain = asyncio.ensure_future(self._replies.drain(self._drain_s))
        hurry = asyncio.ensure_future(self._hurry.wait())
        await asyncio.wait({drain, hurry}, return_when=asyncio.FIRST_COMPLETED)
        for task in (drain, hurry):
            task.cancel()
        await asyncio.gather(drain, hurry, return_exceptions=True)
        if not self.force_exit:
            await self._hand_out_last_frames()
        await super().shutdown(sockets)

    # Private

    def _refuse_new(self) -> None:
        self._replies.draining = True

    async def _hand_out_last_frames(self) -> None:
        for _ in range(round(_LAST_FRAMES_S / _SOON_S)):
            if not self._replies.has_readers():
                return
            await asyncio.sleep(_SOON_S)


def make_server(app: Starlette, settings: Settings) -> Server:
    """A server for ``app``, to be run on a socket that is bound already."""
    limits = SocketLimits.of(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=with_limits(HttpProtocol, limits),
        ws=with_limits(WebSocketProtocol, limits),
        lifespan="on",
        ws_max_size=settings.ws_max_bytes,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_keep_alive=settings.keep_alive_s,
        # The drain has waited already; this is for connections that will not go.
        timeout_graceful_shutdown=2,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        server_header=False,
        access_log=False,
        log_level="warning",
    )
    return Server(config, app.state.replies, settings.drain_s)


def listen(settings: Settings) -> socket.socket:
    """A bound socket. Raises StartupError when the address cannot be had."""
    host, port = settings.host, settings.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        # Here already, or two servers could both bind and only the second to start would fail.
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        reason = error.strerror or str(error)
        raise StartupError(
            f"cannot listen on {bracketed(host)}:{port}: {reason.lower()} (--port chooses another port)"
        ) from None
    return sock


def raise_descriptor_limit(wanted: int = _DESCRIPTORS) -> int:
    """As many open sockets as the system grants us without asking anybody; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    granted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < granted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
        return granted
    return soft


def run(settings: Settings, on_listening: Callable[[int], None] = lambda port: None) -> None:
    """Serve until a signal; ``on_listening`` is told the port.

    Raises StartupError when the port is taken or the engine cannot start.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    raise_descriptor_limit()
    engine = make_engine(settings)
    with listen(settings) as sock:
        app = create_app(settings, engine)
        server = make_server(app, settings)
        port = sock.getsockname()[1]
        url = f"http://{bracketed(reachable(settings.host))}:{port}"
        on_listening(port)
        # What was made until here stays for good. Looked at again and again with all the rest, it would be
        # a gap of some 40 ms in everybody's stream.
        gc.collect()
        gc.freeze()
        with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
            runner.run(_serve(server, sock, app, settings, url))
    failure = getattr(engine, "failure", None)
    if failure is not None:
        raise StartupError(failure)


# Private


async def _serve(server: Server, sock: socket.socket, app: Starlette, settings: Settings, url: str) -> None:
    async with AsyncExitStack() as stack:
        if settings.grpc_port:
            await stack.enter_async_context(_grpc(app.state.replies, settings))
        herald = asyncio.ensure_future(_announce(server, app.state.engine, url))
        stack.callback(herald.cancel)
        with server.capture_signals():
            await server._serve(sockets=[sock])


@asynccontextmanager
async def _grpc(replies: Replies, settings: Settings) -> AsyncIterator[None]:
    """gRPC beside HTTP. Raises StartupError when its port is taken or its packages are missing."""
    # Its handlers for fork() are for programs that go on in the child; ours start another program.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    # What goes wrong is raised to us too; its own lines beside ours would say it twice.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        from app.transports.grpc_server import GrpcServer
    except ImportError:
        raise StartupError("gRPC needs its packages: pip install 'firstword[grpc]'") from None
    server = GrpcServer(replies, settings, settings.host, settings.grpc_port)
    await server.start()
    try:
        yield
    finally:
        await server.stop()


async def _announce(server: Server, engine: Engine, url: str) -> None:
    """Say on the terminal where we are and how far the engine is; stop when it has failed for good."""
    print(f"Firstword is at {url}", flush=True)
    told = ""
    while True:
        status = engine.status
        if status.state == "ready":
            print(f"Ready: {engine.model.name} on {engine.model.device or 'its device'}.", flush=True)
            return
        if status.state == "failed":
            server.should_exit = True
            return
        # In tens: a line for each percent would push everything else off the screen.
        percent = f" {status.progress * 10 // 1 / 10:.0%}" if status.progress is not None else ""
        if (line := f"{status.detail or status.state}{percent}") != told:
            print(line, file=sys.stderr, flush=True)
            told = line
        await asyncio.sleep(_LOOK_S)
