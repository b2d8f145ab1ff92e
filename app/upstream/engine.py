"""UpstreamEngine: an app.generation.Engine over any OpenAI-compatible server.

It looks whether the server is there and says so, starts one relay a prompt, and passes grants and
cancellations to it. The server batches, schedules and holds the KV cache; how it does that is
what this module refuses to know.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping
from functools import partial

import httpx

from app.errors import (
    BadRequest,
    EngineLoading,
    EngineLost,
    FirstwordError,
    Overloaded,
    ServerShutdown,
    UpstreamFailed,
)
from app.generation import Ended, EngineStatus, Failed, ModelInfo, Sink, StepRecord
from app.prompt import Prompt
from app.settings import Settings
from app.upstream.address import Patience, address_of
from app.upstream.counting import count_tokens
from app.upstream.probe import Served, look
from app.upstream.relay import Relay

log = logging.getLogger(__name__)


class UpstreamEngine:
    """Somebody else's engine as ours. Raises StartupError when the settings name no usable server.

    ``settled`` is set after the first look, whatever it found.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        environ: Mapping[str, str] = os.environ,
        patience: Patience | None = None,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.settled = asyncio.Event()

        self._address = address_of(settings, environ)
        self._wanted = settings.upstream_model
        self._patience = patience or Patience(silence_s=settings.upstream_silence_s)
        self._now_ns = now_ns
        # No more generations than replies can be kept, and a few connections for questions.
        self._max_flights = settings.max_replies
        self._client: httpx.AsyncClient | None = None

        # Is it there?
        self._served: Served | None = None  # stays when it is lost: the name is still its name
        self._obstacle: FirstwordError | None = EngineLoading("the upstream was not asked yet")
        self._doubt = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self._stopped = False

        # Generations in flight
        self._flights: dict[str, tuple[Relay, asyncio.Task[Ended | Failed]]] = {}

    @property
    def status(self) -> EngineStatus:
        if self._stopped:
            return EngineStatus("stopped")
        if self._obstacle is None:
            return EngineStatus("ready", f"served by {self._address.shown}")
        return EngineStatus("restarting" if self._served else "loading", self._obstacle.message)

    @property
    def model(self) -> ModelInfo:
        served = self._served or Served(self._wanted or "upstream")
        return ModelInfo(served.model, served.context_tokens, device="upstream", can_pause=False)

    async def start(self) -> None:
        """Begin to look for the server and return; ``status`` tells what was found."""
        if self._watch is None and not self._stopped:
            self._client = self._address.client(self._patience, self._max_flights + 8)
            self._watch = asyncio.create_task(self._keep_looking(self._client), name="upstream probe")

    async def stop(self) -> None:
        """Fail all generations with ``server_shutdown``, close all connections."""
        self._stopped = True
        tasks: list[asyncio.Task[None] | asyncio.Task[Ended | Failed]] = [
            t for _, t in self._flights.values()
        ]
        if self._watch is not None:
            tasks.append(self._watch)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
        self.settled.set()

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        """See Engine. Raises also Overloaded, ServerShutdown, and BadRequest for a running id."""
        client, served = self._ready()
        if prompt.id in self._flights:
            raise BadRequest(f"the sequence {prompt.id!r} is already running", param="id")
        if len(self._flights) >= self._max_flights:
            raise Overloaded(f"{self._max_flights} generations are in flight already")
        relay = Relay(prompt, sink, client, self._address, served, self._patience, self._now_ns, self._lost)
        task = asyncio.create_task(relay.run(), name=f"relay {prompt.id}")
        self._flights[prompt.id] = relay, task
        task.add_done_callback(partial(self._landed, relay))

    def cancel(self, id: str) -> None:
        """See Engine. The connection is closed at once, which tells the upstream."""
        if id in self._flights:
            self._flights[id][1].cancel()

    def grant(self, id: str, tokens: int) -> None:
        if id in self._flights:
            self._flights[id][0].flow.grant(tokens)

    async def count_tokens(self, prompt: Prompt) -> int:
        """See Engine. Raises BadRequest when the server cannot count, UpstreamFailed when it fails."""
        client, served = self._ready()
        return await count_tokens(client, self._address, prompt, served.model, self._patience)

    def watch_steps(self, sink: Callable[[StepRecord], None]) -> Callable[[], None]:
        """An upstream shows no steps: ``sink`` is never called."""
        return lambda: None

    # Private

    def _ready(self) -> tuple[httpx.AsyncClient, Served]:
        if self._stopped:
            raise ServerShutdown("The server is shutting down.")
        if self._obstacle is not None:
            # A fresh one: an exception that is raised again and again grows its traceback.
            raise type(self._obstacle)(self._obstacle.message)
        assert self._client is not None and self._served is not None
        return self._client, self._served

    def _landed(self, relay: Relay, task: asyncio.Task[Ended | Failed]) -> None:
        """The task's end, however it came, and also if it was cancelled before it ever ran."""
        del self._flights[relay.prompt.id]
        if not task.cancelled():
            relay.emit(task.result())
        elif self._stopped:
            relay.emit(relay.failed(ServerShutdown("The server is shutting down.")))
        else:
            relay.emit(relay.ended("cancelled"))

    def _lost(self, why: str) -> None:
        """A relay could not connect: nobody else shall try before the next look."""
        self._obstacle = EngineLost(why)
        self._doubt.set()

    async def _keep_looking(self, client: httpx.AsyncClient) -> None:
        while True:
            self._doubt.clear()
            await self._look(client)
            self.settled.set()
            wait_s = self._patience.absent_s if self._obstacle else self._patience.present_s
            try:
                async with asyncio.timeout(wait_s):
                    await self._doubt.wait()
            except TimeoutError:
                continue

    async def _look(self, client: httpx.AsyncClient) -> None:
        before = self._obstacle
        try:
            self._served = await look(client, self._address, self._wanted, self._patience)
            self._obstacle = None
        except TimeoutError as error:
            # Silence while it works for us means busy: a server that loads or prefills on its own
            # event loop answers nothing else meanwhile.
            if not self._flights:
                self._obstacle = EngineLost(str(error))
        except (EngineLoading, EngineLost, UpstreamFailed) as error:
            self._obstacle = error
        if (before is None) != (self._obstacle is None):
            log.info("upstream: %s %s", self.status.state, self.status.detail)
