"""Some threads that run one compiled function together, and how they share work inside of it.

Work is taken piece by piece from a counter, so that a core which the system uses for something else
does less instead of being waited for. Between phases all meet: waiting threads spin for about the time
such a phase takes and then offer their core to others. It refuses to know what is computed.
"""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from app.engine.model.compiled.counters import add_atomically, give_way, load_atomically, pause

#: Looks at a counter before a waiting thread offers its core: some 20 microseconds.
_PATIENCE = 1000
#: Sums may be added up in any order, and dividing by zero is what the processor makes of it.
_OPTIONS = {"nogil": True, "fastmath": True, "error_model": "numpy"}
#: int64 numbers in a cache line: a phase's two counters share one, and no two phases do.
_LINE = 8


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as machine code, made at the first call and kept where ``keep_machine_code`` says."""
    made: Callable[..., Any] = numba.njit(cache=bool(numba.config.CACHE_DIR), **_OPTIONS)(function)
    return made


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A part of a compiled function.

    Always put into its caller: else a process that compiles would add up in another order than
    one that finds the code made, and the same seed would some day give two texts.
    """
    made: Callable[..., Any] = numba.njit(forceinline=True, **_OPTIONS)(function)
    return made


class Team(NamedTuple):
    """What one worker knows of the others during one job."""

    rank: int
    workers: int
    counters: np.ndarray  # int64 [phases, cache line]: pieces taken, workers that are done


@inlined
def take(team: Team, phase: int, size: int) -> int:
    """Where the caller's next ``size`` pieces of ``phase`` begin."""
    return add_atomically(team.counters.ctypes.data + phase * _LINE * 8, size)  # type: ignore[no-any-return]


@inlined
def meet(team: Team, phase: int) -> None:
    """Return when all workers are done with ``phase``."""
    address = team.counters.ctypes.data + (phase * _LINE + 1) * 8
    add_atomically(address, 1)
    looks = 0
    while load_atomically(address) < team.workers:
        looks += 1
        if looks < _PATIENCE:
            pause()
        else:
            give_way()


class Crew:
    """``workers`` threads, the caller being one of them."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._jobs: list[queue.SimpleQueue[Callable[[], None]]] = []
        for rank in range(1, workers):
            jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
            threading.Thread(target=_work, args=(jobs,), daemon=True, name=f"crew-{rank}").start()
            self._jobs.append(jobs)

    def run(self, job: Callable[[Team], None], num_phases: int) -> None:
        """``job`` in each thread. It must end by a ``meet`` of all: then all results are there."""
        counters = np.zeros((num_phases, _LINE), np.int64)
        for rank, jobs in enumerate(self._jobs, start=1):
            jobs.put(functools.partial(job, Team(rank, self.workers, counters)))
        job(Team(0, self.workers, counters))


# Private


def _work(jobs: queue.SimpleQueue[Callable[[], None]]) -> None:
    while True:
        jobs.get()()
