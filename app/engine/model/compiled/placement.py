"""Placement: the processor of a crew's caller belongs to the caller alone.

A thread that has slept for a while is woken, on a machine of few processors, more often than not on the
very processor of who wakes it, and waits there for its turn although another one idles: measured on
two, some 3 ms of a step of 10, and the first token of every answer begins with such a step. So before
each job the other threads are kept away from the processor that the caller runs on just then. Among
the rest the system chooses, as before. Where a system has no such call, nothing is done.
It refuses to know what the threads do.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

_processor: Callable[[], int] | None = getattr(ctypes.CDLL(None), "sched_getcpu", None)


class Placement:
    """``threads`` are the system's own numbers of all but the caller's."""

    def __init__(self, threads: Sequence[int]) -> None:
        self._threads = threads
        self._processor = _processor if hasattr(os, "sched_setaffinity") else None
        #: The processor that they are kept away from; None: none yet.
        self._reserved: int | None = None

    def make_room(self) -> None:
        """Called by the caller, in its thread, while the others sleep. It costs a system call where the
        caller has moved, else nothing."""
        if self._processor is None or (here := self._processor()) == self._reserved:
            return
        try:
            rest = elsewhere(os.sched_getaffinity(0), here)
            for thread in self._threads:
                os.sched_setaffinity(thread, rest)
        except OSError:  # where it is forbidden they run as they always did
            self._processor = None
        self._reserved = here


def elsewhere(allowed: AbstractSet[int], here: int) -> AbstractSet[int]:
    """The processors for the others: all that are allowed but ``here``; that one when there is no other."""
    return allowed - {here} or allowed
