"""Placement: the processor of the thread that computes belongs to that thread alone.

A thread that has slept is woken, on a machine of few processors, more often than not on the very
processor of who wakes it, and waits there for its turn although another one idles: measured on two,
some 3 ms. The first token of every answer begins with such a waking, and every token reaches its reader
by one. So before the one thread wakes the others they are kept away from the processor that it runs on
just then; among the rest the system chooses, as before. Where a system has no such call, nothing is done.
It refuses to know what the threads do.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

_processor: Callable[[], int] | None = getattr(ctypes.CDLL(None), "sched_getcpu", None)


class Placement:
    """``threads`` are the system's own numbers of those to be woken (a process's is its main thread's)."""

    def __init__(self, threads: Iterable[int]) -> None:
        self._processor = _processor if hasattr(os, "sched_setaffinity") else None
        #: Where each may run at all.
        self._allowed: dict[int, AbstractSet[int]] = {}
        #: The processor that they are kept away from; None: none yet.
        self._reserved: int | None = None
        try:
            if self._processor is not None:
                self._allowed = {thread: os.sched_getaffinity(thread) for thread in threads}
        except OSError:  # gone, or somebody else's
            self._processor = None

    def make_room(self) -> None:
        """Called by the one who is going to wake them, in its thread.

        It costs system calls where the caller has moved since, else next to nothing.
        """
        if self._processor is None or (here := self._processor()) == self._reserved:
            return
        try:
            for thread, allowed in self._allowed.items():
                os.sched_setaffinity(thread, elsewhere(allowed, here))
        except OSError:  # where it is forbidden they run as they always did
            self._processor = None
        self._reserved = here


def num_processors() -> int:
    """How many the caller may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def elsewhere(allowed: AbstractSet[int], here: int) -> AbstractSet[int]:
    """The processors for the others: all that are allowed but ``here``; that one when there is no other."""
    return allowed - {here} or allowed
