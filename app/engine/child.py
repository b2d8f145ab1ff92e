"""The parent's handle on one engine process: launch it, talk to it, end it.

It lives from launch to exit and is never used again; starting another is the supervisor's
business. This module refuses to know sequences, states and reasons.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path

from app.engine.messages import Command, Report
from app.engine.pipe import AsyncEnd

_STDERR = 2


class Child:
    """One engine process and the pipe to it; made by ``launch``."""

    def __init__(
        self, process: asyncio.subprocess.Process, pipe: AsyncEnd[Report], processors: Set[int]
    ) -> None:
        self._process = process
        self._pipe = pipe
        #: Where our thread may run when no engine keeps it off its own processor.
        self._processors = processors

    @classmethod
    async def launch(
        cls, on_report: Callable[[Report], None], on_lost: Callable[[Exception | None], None]
    ) -> Child:
        """Start ``python -m app.engine.process`` with one end of a new socket pair.

        Raises OSError when the system has no process, memory or descriptor left.
        """
        processors = _processors()
        ours, theirs = socket.socketpair()
        try:
            ours.setblocking(False)
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "app.engine.process", "--fd", str(theirs.fileno()),
                "--reader", str(threading.get_native_id()),
                pass_fds=(theirs.fileno(),),
                stdin=asyncio.subprocess.DEVNULL,
                # What a library prints must not get between the lines of our own stdout.
                stdout=_STDERR,
                env=_environment(),
            )  # fmt: skip
            _, pipe = await asyncio.get_running_loop().create_unix_connection(
                lambda: AsyncEnd[Report](Report, on_report, on_lost), sock=ours
            )
        except BaseException:
            # A child that was started all the same sees the end of its pipe and exits.
            ours.close()
            raise
        finally:
            theirs.close()
        return cls(process, pipe, processors)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def unsent_bytes(self) -> int:
        return self._pipe.unsent_bytes

    def send(self, command: Command) -> None:
        """Never blocks; lost when the child is gone. Raises FrameTooLarge."""
        self._pipe.send(command)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self, exit_s: float) -> int:
        """Wait ``exit_s`` for it to exit by itself, then terminate, then kill it.

        Returns the exit code, minus the signal's number when a signal ended it.
        """
        try:
            for harder in (self._process.terminate, self._process.kill):
                with suppress(TimeoutError):
                    async with asyncio.timeout(exit_s):
                        return await self._process.wait()
                with suppress(ProcessLookupError):
                    harder()
            return await self._process.wait()
        finally:
            self._pipe.close()
            if self._processors:
                with suppress(OSError):  # some may have been taken from all of us meanwhile
                    os.sched_setaffinity(0, self._processors)


# Private


def _processors() -> Set[int]:
    """Those that this thread may run on; none where the system does not say."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def _environment() -> dict[str, str]:
    """Ours, and the child finds the same ``app`` from any working directory."""
    root = Path(__file__).resolve().parents[2]
    environment = dict(os.environ)
    # An installed package is found anyhow, and site-packages must not come before the library.
    if not root.name.endswith("-packages"):
        inherited = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([inherited] if inherited else [])])
    # A step is some four hundred operators, each ending in a barrier at which OpenMP's threads spin
    # before they sleep. Once another process wants a core (the web server does, with every token),
    # the spinning takes the core that the last thread waits for: a step of one row beside one busy
    # process on two cores took 270 ms or more with 20,000 turns and 87 with 2,000. The library
    # reads this once, when torch is imported, so it has to be there before the child is.
    environment.setdefault("GOMP_SPINCOUNT", "2000")
    return environment
