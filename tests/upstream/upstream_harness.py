"""What the tests of the upstream engine share: a listener, a hurried engine, one asked question."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from app.generation import Ended, Failed, Output, Piece
from app.prompt import Message, Prompt
from app.settings import Settings
from app.upstream.address import Patience
from app.upstream.engine import UpstreamEngine
from tests.upstream.misbehaving_server import Handler, MisbehavingServer, Request

HURRY = Patience(
    silence_s=0.3, refusal_s=5, back_off_s=0.01, tail_s=0.2, question_s=0.3, absent_s=0.02, present_s=0.05
)


class Listener:
    """A sink that keeps all outputs and lets a test wait for one of a kind."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self._changed = asyncio.Event()

    def __call__(self, output: Output) -> None:
        self.outputs.append(output)
        self._changed.set()

    async def first(self, *kinds: type) -> Any:
        while True:
            for output in self.outputs:
                if isinstance(output, kinds):
                    return output
            self._changed.clear()
            async with asyncio.timeout(5):
                await self._changed.wait()

    async def end(self) -> Any:
        return await self.first(Ended, Failed)

    @property
    def text(self) -> str:
        return "".join(o.text for o in self.outputs if isinstance(o, Piece))


def settings(server: MisbehavingServer, **more: Any) -> Settings:
    return Settings(engine="upstream", upstream=server.url, **more)


@asynccontextmanager
async def running(
    server: MisbehavingServer, patience: Patience = HURRY, **more: Any
) -> AsyncIterator[UpstreamEngine]:
    engine = UpstreamEngine(settings(server, **more), patience=patience, environ={})
    await engine.start()
    await engine.settled.wait()
    try:
        yield engine
    finally:
        await engine.stop()


def prompt(id: str = "a", **more: Any) -> Prompt:
    return Prompt(id, (Message("user", "hello"),), **more)


async def ask(server: MisbehavingServer, **more: Any) -> tuple[Listener, Any]:
    """One generation on a fresh engine: its listener and its last output."""
    async with running(server) as engine:
        listener = Listener()
        engine.submit(prompt(**more), listener)
        return listener, await listener.end()


def scripted(*parts: bytes) -> Handler:
    async def handler(request: Request) -> None:
        await request.send(*parts)

    return handler
