"""Main: settings and an engine become the application. The one place where parts meet.

The lifespan starts the engine (which goes on loading while pages are served) and stops it. Nothing
happens at import, and nothing here knows sockets and signals: that is the server's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from app.engine.script import DEFAULT_SCRIPT, load_script
from app.engine.scripted import ScriptedEngine
from app.engine.supervisor import LocalEngine
from app.errors import FirstwordError
from app.events import AnyEvent
from app.generation import Engine
from app.pages.missing import or_missing_page
from app.pages.routes import page_routes
from app.reply.log import Reply
from app.reply.registry import Replies
from app.rooms.registry import Rooms
from app.settings import Settings
from app.telemetry import about, health, meters
from app.telemetry.journal import Journal
from app.transports import anthropic, http, lab, openai, probe, recordings, refusal, rooms, websocket
from app.transports.guard import Guard, Rules
from app.upstream.engine import UpstreamEngine


def create_app(settings: Settings, engine: Engine) -> Starlette:
    """The application around one engine; its registries are ``app.state.replies`` and ``app.state.rooms``."""
    replies = Replies(engine, settings)
    gauges = meters.Meters(replies, engine)
    listeners = [gauges.listen, *([Journal(_log_line).listen] if settings.log == "json" else [])]

    def tell(reply: Reply, event: AnyEvent) -> None:
        if reply.engine is not engine:
            return  # A played recording says nothing about how this server does.
        for listen in listeners:
            listen(reply, event)

    replies.on_event = tell
    classroom = Rooms(replies, engine, settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await engine.start()
        await classroom.start()
        lag = asyncio.create_task(gauges.watch_loop())
        try:
            yield
        finally:
            lag.cancel()
            # Whoever drained has done so before; this is for those who did not.
            await replies.drain(0.0)
            await classroom.stop()
            await engine.stop()

    app = Starlette(
        routes=_routes(settings, engine, replies, classroom, gauges),
        middleware=[Middleware(Guard, rules=Rules.of(settings))],
        exception_handlers={
            FirstwordError: refusal.on_error,
            HTTPException: or_missing_page(refusal.on_http_exception),
        },
        lifespan=lifespan,
    )
    app.state.replies = replies
    app.state.engine = engine
    app.state.rooms = classroom
    return app


def make_engine(settings: Settings) -> Engine:
    """The engine that the settings name. Raises StartupError when it cannot be one."""
    match settings.engine:
        case "scripted":
            script = load_script(settings.script) if settings.script else DEFAULT_SCRIPT
            return ScriptedEngine(script, slots=settings.max_batch)
        case "upstream":
            return UpstreamEngine(settings)
    return LocalEngine(settings)


# Private


def _routes(
    settings: Settings, engine: Engine, replies: Replies, classroom: Rooms, gauges: meters.Meters
) -> list[BaseRoute]:
    return [
        *websocket.routes(replies, settings),
        *http.routes(replies, settings),
        *probe.routes(),
        *recordings.routes(),
        *lab.routes(replies, settings),
        *rooms.routes(classroom, settings),
        *openai.routes(replies, settings),
        *anthropic.routes(replies, settings),
        *health.routes(engine, lambda: replies.draining),
        *about.routes(engine),
        *meters.routes(gauges),
        *page_routes(),
    ]


def _log_line(line: str) -> None:
    print(line, flush=True)
