"""Main: settings and an engine become the application. The one place where parts meet.

The lifespan starts the engine (which goes on loading while pages are served) and stops it. Nothing
happens at import, and nothing here knows sockets and signals: that is the server's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from app.engine.script import DEFAULT_SCRIPT, load_script
from app.engine.scripted import ScriptedEngine
from app.engine.stops import StopScanner
from app.engine.supervisor import LocalEngine
from app.errors import FirstwordError
from app.events import AnyEvent
from app.generation import Engine
from app.pages.routes import page_routes
from app.reply.log import Reply
from app.reply.registry import Replies
from app.settings import Settings
from app.telemetry import health, meters
from app.telemetry.journal import Journal
from app.transports import anthropic, http, openai, probe, refusal, websocket
from app.transports.guard import Guard, Rules
from app.upstream.engine import UpstreamEngine


def create_app(settings: Settings, engine: Engine) -> Starlette:
    """The application around one engine; its registry is ``app.state.replies``."""
    replies = Replies(engine, settings)
    gauges = meters.Meters(replies, engine)
    listeners = [gauges.listen, *([Journal(_log_line).listen] if settings.log == "json" else [])]

    def tell(reply: Reply, event: AnyEvent) -> None:
        for listen in listeners:
            listen(reply, event)

    replies.on_event = tell

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await engine.start()
        try:
            yield
        finally:
            # Whoever drained has done so before; this is for those who did not.
            await replies.drain(0.0)
            await engine.stop()

    app = Starlette(
        routes=[
            *websocket.routes(replies, settings),
            *http.routes(replies, settings),
            *probe.routes(settings),
            *openai.routes(replies, settings),
            *anthropic.routes(replies, settings),
            *health.routes(engine, lambda: replies.draining),
            *meters.routes(gauges),
            *page_routes(),
        ],
        middleware=[Middleware(Guard, rules=Rules.of(settings))],
        exception_handlers={
            FirstwordError: refusal.on_error,
            HTTPException: refusal.on_http_exception,
        },
        lifespan=lifespan,
    )
    app.state.replies = replies
    app.state.engine = engine
    return app


def make_engine(settings: Settings) -> Engine:
    """The engine that the settings name. Raises StartupError when it cannot be one."""
    match settings.engine:
        case "scripted":
            script = load_script(settings.script) if settings.script else DEFAULT_SCRIPT
            return ScriptedEngine(script, slots=settings.max_batch)
        case "upstream":
            return UpstreamEngine(settings, stop_scanner=StopScanner)
    return LocalEngine(settings)


# Private


def _log_line(line: str) -> None:
    print(line, flush=True)
