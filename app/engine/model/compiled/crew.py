"""Some threads that run one compiled function together, and how they share work inside of it.

Work is taken piece by piece from a counter, so that a core which the system uses for something else
does less instead of being waited for. Between phases all meet: waiting threads spin for about the time
such a phase takes and then offer their core to others. Nobody waits for who has not come yet: the
first worker, who is the caller, begins alone and lets the others in at the next phase. A core is often
late just then, because it hands the last step's tokens to their readers. It refuses to know what is
computed.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from app.engine.model.compiled.counters import add_atomically, give_way, load_atomically, pause
from app.engine.placement import Placement, num_processors

#: Looks at a counter before a waiting thread offers its core: some 20 microseconds.
_PATIENCE = 1000
#: Sums may be added up in any order, and dividing by zero is what the processor makes of it.
_OPTIONS = {"nogil": True, "fastmath": True, "error_model": "numpy"}
#: A phase's counters: pieces taken, workers that are done, workers that are waited for. They share a
#: cache line of eight int64 numbers, and no two phases do.
_TAKEN, _DONE, _MEMBERS, _LINE = 0, 1, 2, 8
#: More pieces than any phase has.
_ALL = 1 << 40


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
    #: The phase from which on it takes part.
    first: int
    counters: np.ndarray  # int64 [phases + 2, cache line]: behind the last, the workers that have come


def alone(num_phases: int) -> Team:
    """A team of one."""
    counters = np.zeros((num_phases + 2, _LINE), np.int64)
    counters[0, _MEMBERS] = 1
    return Team(0, 0, counters)


@inlined
def take(team: Team, phase: int, size: int) -> int:
    """Where the caller's next ``size`` pieces of ``phase`` begin."""
    if phase < team.first:
        return _ALL
    return add_atomically(_address(team.counters, phase, _TAKEN), size)  # type: ignore[no-any-return]


@inlined
def meet(team: Team, phase: int) -> None:
    """Return when all members are done with ``phase``."""
    if phase < team.first:
        return
    done, members = _address(team.counters, phase, _DONE), _address(team.counters, phase, _MEMBERS)
    add_atomically(done, 1)
    looks = 0
    # The number of members is 0 until the first worker is as far.
    while load_atomically(members) == 0 or load_atomically(done) < load_atomically(members):
        looks = _wait(looks)
    if team.rank == 0:
        come = load_atomically(_address(team.counters, len(team.counters) - 1, 0))
        add_atomically(_address(team.counters, phase + 1, _MEMBERS), come + 1)


class Crew:
    """``workers`` threads, the caller being one of them."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        #: Whether nobody else has a processor while all of us work.
        self._takes_all = workers >= num_processors()
        self._jobs: list[queue.SimpleQueue[tuple[Job, np.ndarray, float]]] = []
        others: list[threading.Thread] = []
        for rank in range(1, workers):
            jobs: queue.SimpleQueue[tuple[Job, np.ndarray, float]] = queue.SimpleQueue()
            others.append(threading.Thread(target=_work, args=(rank, jobs), daemon=True, name=f"crew-{rank}"))
            others[-1].start()
            self._jobs.append(jobs)
        self._placement = Placement([thread.native_id for thread in others if thread.native_id is not None])

    def run(self, job: Job, num_phases: int, others_s: float = 0.0) -> None:
        """``job`` in each thread that comes in time. It must end by a ``meet``: then all is there.

        ``others_s``: so long other programs have work that is to be done first. Where we would take every
        processor, the last worker leaves them its own for that time.
        """
        team = alone(num_phases)
        self._placement.make_room()
        for jobs in self._jobs:
            last = jobs is self._jobs[-1]
            jobs.put((job, team.counters, others_s if last and self._takes_all else 0.0))
        job(team)


Job = Callable[[Team], None]

# Private


def _work(rank: int, jobs: queue.SimpleQueue[tuple[Job, np.ndarray, float]]) -> None:
    while True:
        job, counters, others_s = jobs.get()
        if others_s:
            time.sleep(others_s)
        first = _join(counters)
        if first < len(counters) - 2:
            job(Team(rank, first, counters))


@compiled
def _join(counters):  # type: ignore[no-untyped-def]
    """The phase from which on the caller is waited for; the number of phases when it is too late."""
    number = add_atomically(_address(counters, len(counters) - 1, 0), 1) + 2
    phase, looks = 0, 0
    while phase < len(counters) - 2:
        members = load_atomically(_address(counters, phase, _MEMBERS))
        if members >= number:
            break
        if members > 0:
            phase += 1
        else:
            looks = _wait(looks)
    return phase


@inlined
def _wait(looks):  # type: ignore[no-untyped-def]
    if looks < _PATIENCE:
        pause()
    else:
        give_way()
    return looks + 1


@inlined
def _address(counters, line, place):  # type: ignore[no-untyped-def]
    return counters.ctypes.data + (line * _LINE + place) * 8
