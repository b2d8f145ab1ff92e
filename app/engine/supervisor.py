"""LocalEngine: the web process's side of the engine that runs in a process of its own.

It starts the child, hands prompts in and outputs out, and starts it again when it dies: each
sequence in flight then ends with one clear error while the pages stay up. It never blocks the
event loop. It refuses to know torch, models and batches: those live behind the pipe. It is longer
than most because one state (loading, ready, restarting, failed, stopped) rules all of it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from app.engine import frames, messages, refusals
from app.engine.awaiting import Awaiting
from app.engine.child import Child
from app.engine.patience import BackOff, Patience, Watchdog
from app.errors import EngineLost, Overloaded, PromptTooLong
from app.generation import EngineStatus, ModelInfo, Sink, StepRecord
from app.prompt import Prompt
from app.settings import Settings

log = logging.getLogger(__name__)

FACTORY = "app.engine.assembly:assemble"
_PATIENCE = Patience()
#: Prompts pile up here only while the child does not read: four of the largest, or a thousand
#: usual ones.
MAX_UNSENT_BYTES = 4 * 1024 * 1024


class LocalEngine:
    """An app.generation.Engine in a supervised process.

    ``settled`` is set when the first load has ended, well or not; ``failure`` is then None or one
    line for a person. ``factory`` names what the child runs, ``module:function``.
    """

    def __init__(self, settings: Settings, *, factory: str = FACTORY, patience: Patience = _PATIENCE) -> None:
        self.settled = asyncio.Event()
        self.failure: str | None = None

        self._settings = settings
        self._factory = factory
        self._patience = patience
        self._awaiting = Awaiting()
        self._status = EngineStatus("loading", "starting the engine")
        self._model = ModelInfo(name=settings.model or "loading")
        self._was_ready = False

        # The present child
        self._child: Child | None = None
        self._watchdog = Watchdog(patience)
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()  # the child is gone, or we are to stop

    @property
    def status(self) -> EngineStatus:
        stalled_s = self._watchdog.stalled_s
        if self._is("ready") and stalled_s is not None:
            return EngineStatus("ready", stalled_s=stalled_s)
        return self._status

    @property
    def model(self) -> ModelInfo:
        return self._model

    @property
    def pid(self) -> int | None:
        """The engine process's id; None while there is none."""
        return self._child.pid if self._child is not None else None

    async def start(self) -> None:
        """Begin to load and return; ``status`` and ``settled`` tell the rest."""
        if self._task is None:
            self._task = asyncio.create_task(self._supervise(), name="engine supervisor")

    async def stop(self) -> None:
        """End all sequences with ``server_shutdown``, then the child: politely first."""
        if not self._is("stopped"):
            self._status = EngineStatus("stopped")
            self._awaiting.fail(refusals.shutting_down(), time.monotonic_ns())
            if self._child is not None:
                self._child.send(messages.StopEngine())
            self.settled.set()
            self._wake.set()
        if self._task is not None:
            await self._task

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        """See Engine. Raises also Overloaded when the child does not read, and ServerShutdown."""
        child = self._ready_child()
        self._awaiting.refuse_twice(prompt.id)
        self._hand_over(child, messages.Submit(prompt))
        self._awaiting.add(prompt.id, sink)

    def cancel(self, id: str) -> None:
        if id in self._awaiting and self._child is not None:
            self._child.send(messages.CancelSequence(id))

    def grant(self, id: str, tokens: int) -> None:
        if id in self._awaiting and self._child is not None:
            self._child.send(messages.GrantTokens(id, tokens))

    async def count_tokens(self, prompt: Prompt) -> int:
        """See Engine. Raises what submit raises, and EngineLost when the child dies meanwhile."""
        child = self._ready_child()
        number, answer = self._awaiting.ask()
        try:
            self._hand_over(child, messages.CountTokens(number, prompt))
            return await answer
        finally:
            answer.cancel()  # of no effect on one that was given

    def watch_steps(self, sink: Callable[[StepRecord], None]) -> Callable[[], None]:
        watchers = self._awaiting.watchers
        watchers.append(sink)
        self._tell_watching()

        def end() -> None:
            if sink in watchers:
                watchers.remove(sink)
                self._tell_watching()

        return end

    # Private: one child after the other

    async def _supervise(self) -> None:
        back_off = BackOff(self._patience)
        deaths_loading = 0
        while not self._over():
            began_s = time.monotonic()
            how = await self._run_child()
            if self._over():
                return
            deaths_loading += 1
            if not self._was_ready and deaths_loading >= self._patience.first_loads:
                self._give_up(f"the engine died {deaths_loading} times while loading ({how})")
                return
            wait_s = back_off.after(time.monotonic() - began_s)
            log.error("the engine process is gone (%s); starting it again in %.1f s", how, wait_s)
            self._wake.clear()
            await self._sleep(wait_s)

    async def _run_child(self) -> str:
        """One child from launch to exit. Returns how it ended, in words."""
        self._wake.clear()
        self._watchdog = Watchdog(self._patience)
        try:
            child = await Child.launch(self._on_report, self._on_lost)
        except OSError as error:
            return f"it could not be launched: {error}"
        if self._is("stopped"):  # while it was being launched
            child.send(messages.StopEngine())
        else:
            self._child = child
            child.send(messages.Configure(self._settings, self._factory))
            await self._watch(child)
        code = await child.end(self._patience.exit_s)
        self._child = None
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    async def _watch(self, child: Child) -> None:
        """Return when the child is gone or we are to stop; kill it when it hangs."""
        while not self._wake.is_set():
            await self._sleep(self._patience.tick_s)
            # Not while loading: that may hold the interpreter for long, and people watch it.
            if self._is("ready") and not self._wake.is_set() and self._watchdog.tick():
                log.error("the engine hangs; killing its process %d", child.pid)
                child.kill()
                await self._wake.wait()

    async def _sleep(self, seconds: float) -> None:
        """As long as asked, or until the child is gone or we are to stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    def _on_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            log.error("the pipe to the engine broke: %s", exc)
            if self._child is not None:
                self._child.kill()
        self._child = None
        if not self._over():
            self._status = EngineStatus(
                "restarting" if self._was_ready else "loading", "the engine stopped and is being restarted"
            )
            self._awaiting.fail(refusals.cut_off(), time.monotonic_ns())
        self._wake.set()

    def _give_up(self, message: str) -> None:
        if self._was_ready:  # else whoever waits for ``settled`` tells it
            log.error("the engine failed for good: %s", message)
        self.failure = message
        self._status = EngineStatus("failed", message)
        self._awaiting.fail(EngineLost(f"The engine failed for good: {message}"), time.monotonic_ns())
        self.settled.set()

    # Private: what the child tells

    def _on_report(self, report: messages.Report) -> None:
        self._watchdog.heard()
        match report:
            case messages.Outputs(outputs=outputs):
                for output in outputs:
                    if not self._awaiting.give(output) and self._child is not None:
                        self._child.send(messages.CancelSequence(output.id))
            case messages.Beat(in_step_ms=in_step_ms):
                self._watchdog.heard(in_step_ms)
            case messages.StepDone(record=record):
                self._awaiting.watch(record)
            case messages.Counted():
                self._awaiting.settle(report)
            case messages.Loading(detail=detail, progress=progress):
                if not self._over():
                    self._status = EngineStatus(self._status.state, detail, progress)
            case messages.LoadFailed(message=message):
                if not self._over():
                    self._give_up(message)
            case messages.Ready(model=model):
                self._on_ready(model)

    def _on_ready(self, model: ModelInfo) -> None:
        if self._over():
            return
        self._model = model
        self._was_ready = True
        self._status = EngineStatus("ready")
        if self._awaiting.watchers:
            self._tell_watching()
        self.settled.set()

    # Private: small questions

    def _is(self, state: Literal["loading", "ready", "restarting", "failed", "stopped"]) -> bool:
        return self._status.state == state

    def _over(self) -> bool:
        return self._status.state in ("failed", "stopped")

    def _ready_child(self) -> Child:
        """The child, when it can take a prompt now; else raises why not."""
        refusals.refuse_unready(self._status)
        if self._child is None:
            raise refusals.gone()
        if self._child.unsent_bytes > MAX_UNSENT_BYTES:
            raise Overloaded("The engine does not take prompts fast enough; try again in a moment.")
        return self._child

    def _hand_over(self, child: Child, command: messages.Submit | messages.CountTokens) -> None:
        try:
            child.send(command)
        except frames.FrameTooLarge as error:
            raise PromptTooLong(f"The prompt is too long: {error}", param="messages") from None

    def _tell_watching(self) -> None:
        if self._child is not None and self._is("ready"):
            self._child.send(messages.WatchSteps(bool(self._awaiting.watchers)))
