"""The engine's own process: ``python -m app.engine.process --fd N --reader T``.

Four threads share it. The main thread loads the model and runs the loop; one reads the pipe; one
is the door, where prompts become token ids; one beats every second. Outputs of a step are
written by the loop itself and the write blocks while the parent does not read: then the engine
stops making tokens instead of hoarding them. When the pipe ends the parent is gone and the
process exits at once. It refuses to know who is at the other end, and why.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from app.engine import frames, messages, pipe
from app.engine.commands import Cancel, Command, Grant, Stop, Watch
from app.engine.door import Door
from app.engine.placement import Placement
from app.engine.runner_protocol import Tokenizer
from app.errors import StartupError
from app.generation import ModelInfo, Output, StepRecord
from app.settings import Settings

log = logging.getLogger("firstword.engine")

BEAT_S = 1.0
STOPPED, LOOP_FAILED, LOAD_FAILED = 0, 1, 2

Progress = Callable[[str, float | None], None]
Emit = Callable[[list[Output]], None]
TellStep = Callable[[StepRecord], None]


@dataclass(frozen=True, slots=True)
class Parts:
    """A loaded engine. ``run`` works until Stop and raises when the process can no longer be
    trusted; ``step_began_ns``, None between steps, is asked by another thread meanwhile."""

    model: ModelInfo
    tokenizer: Tokenizer
    context_tokens: int
    run: Callable[[queue.SimpleQueue[Command]], None]
    step_began_ns: Callable[[], int | None]


#: How long a thread may hold the interpreter while another waits for it.
_SWITCH_S = 0.0005

Factory = Callable[[Settings, Progress, Emit, TellStep], Parts]


def main(arguments: list[str]) -> NoReturn:
    """Serve one parent over the inherited socket, then exit."""
    # Ctrl-C goes to the whole group of the terminal; it is the parent who stops us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if len(arguments) != 4 or (arguments[0], arguments[2]) != ("--fd", "--reader"):
        sys.exit("usage: python -m app.engine.process --fd N --reader T (it is started by firstword serve)")
    # The door's thread reads prompts in Python while the loop's computes tokens: it must not keep
    # the interpreter for Python's usual 5 ms, which is half of a step.
    sys.setswitchinterval(_SWITCH_S)
    sock = socket.socket(fileno=int(arguments[1]))
    sock.set_inheritable(False)
    reader = Placement([int(arguments[3])])
    code = Process(pipe.ThreadEnd(sock, messages.Command), reader).run()
    _exit(code)


class Process:
    """The threads and what they share."""

    def __init__(self, end: pipe.ThreadEnd[messages.Command], reader: Placement) -> None:
        self._end = end
        #: The parent's thread that reads what we tell.
        self._reader = reader
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._door: Door | None = None

    def run(self) -> int:
        """Configure, load, work. Returns the exit code."""
        first = self._end.receive()
        if not isinstance(first, messages.Configure):
            return STOPPED
        # Before loading, because the parent may go away or change its mind meanwhile.
        self._start_thread("reader", self._read)
        try:
            parts = _factory(first.factory)(first.settings, self._tell_loading, self._emit, self._tell_step)
        except StartupError as error:
            self._tell(messages.LoadFailed(str(error)))
            return LOAD_FAILED
        except Exception as error:
            # The border of loading: whatever a model's files do to a library, say it in one line.
            log.exception("loading failed")
            self._tell(messages.LoadFailed(f"the model cannot be loaded: {type(error).__name__}: {error}"))
            return LOAD_FAILED
        return self._serve(parts)

    # Private

    def _serve(self, parts: Parts) -> int:
        # What was made by loading stays for good; the collector need not look at it again and
        # again, in the middle of a step.
        gc.collect()
        gc.freeze()
        self._door = Door(parts.tokenizer, parts.context_tokens, self._commands, self._tell)
        self._start_thread("door", self._door.run)
        self._start_thread("beat", lambda: self._beat(parts.step_began_ns))
        self._tell(messages.Ready(parts.model))
        try:
            parts.run(self._commands)
        except Exception:
            # The border of the loop: it raises only when no sequence can be served any more.
            log.exception("the engine loop failed")
            return LOOP_FAILED
        return STOPPED

    def _read(self) -> None:
        while True:
            try:
                message = self._end.receive()
            except frames.PipeBroken as error:
                log.error("the pipe broke: %s", error)
                _exit(LOOP_FAILED)
            if message is None:
                _exit(STOPPED)  # the parent is gone
            self._obey(message)

    def _obey(self, message: messages.Command) -> None:
        door = self._door
        if door is None:
            # Still loading. Prompts are not sent before Ready, and a model that nobody waits for
            # any more need not be loaded to its end.
            if isinstance(message, messages.StopEngine):
                _exit(STOPPED)
            return
        match message:
            case messages.Submit(prompt=prompt):
                door.submit(prompt)
            case messages.CountTokens(number=number, prompt=prompt):
                door.count(number, prompt)
            case messages.CancelSequence(id=id):
                door.pass_on(Cancel(id))
            case messages.GrantTokens(id=id, tokens=tokens):
                door.pass_on(Grant(id, tokens))
            case messages.WatchSteps(on=on):
                self._commands.put(Watch(on))
            case messages.StopEngine():
                self._commands.put(Stop())
            case messages.Configure():
                log.error("configured twice; the second time is ignored")

    def _beat(self, step_began_ns: Callable[[], int | None]) -> None:
        while True:
            began_ns = step_began_ns()
            in_step_ms = 0 if began_ns is None else (time.monotonic_ns() - began_ns) // 1_000_000
            self._tell(messages.Beat(in_step_ms))
            time.sleep(BEAT_S)

    def _emit(self, outputs: list[Output]) -> None:
        if outputs:
            self._reader.make_room()
            self._tell(messages.Outputs(outputs))

    def _tell_loading(self, detail: str, progress: float | None) -> None:
        self._tell(messages.Loading(detail, progress))

    def _tell_step(self, record: StepRecord) -> None:
        self._tell(messages.StepDone(record))

    def _tell(self, report: messages.Report) -> None:
        """Blocks while the parent does not read."""
        try:
            self._end.send(report)
        except OSError:
            _exit(STOPPED)  # the parent is gone

    def _start_thread(self, name: str, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except BaseException:
                # Without any one of the threads the process only looks alive.
                log.exception("the thread %s failed", name)
                _exit(LOOP_FAILED)

        threading.Thread(target=run, name=name, daemon=True).start()


def _factory(dotted: str) -> Factory:
    module, _, name = dotted.partition(":")
    factory: Factory = getattr(importlib.import_module(module), name)
    return factory


def _exit(code: int) -> NoReturn:
    """At once, from any thread: the interpreter's own end would wait for, or trip over, a step
    that another thread is computing."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
