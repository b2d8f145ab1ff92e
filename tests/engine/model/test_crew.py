"""The crew: all work is done once, by whoever is there."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from app.engine.model.compiled.crew import Crew, Team, alone, compiled, meet, take
from app.engine.placement import num_processors

PHASES, PIECES = 40, 7


@compiled
def mark(team, marks):
    """Each piece gets the number of all pieces of the phase before that were done by then."""
    for phase in range(len(marks)):
        piece = take(team, phase, 1)
        while piece < PIECES:
            before = PIECES if phase == 0 else np.count_nonzero(marks[phase - 1])
            marks[phase, piece] += before
            piece = take(team, phase, 1)
        meet(team, phase)


def done_by(crew: Crew) -> np.ndarray:
    marks = np.zeros((PHASES, PIECES), np.int64)
    crew.run(lambda team: mark(team, marks), PHASES)
    return marks


def for_two() -> np.ndarray:
    """The counters of a job in which the second worker to come is waited for."""
    counters = alone(1).counters
    counters[0, 2] = 2
    return counters


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_piece_is_done_once_and_no_phase_begins_before_the_last_is_over(workers: int) -> None:
    crew = Crew(workers)
    for _ in range(200):
        assert (done_by(crew) == PIECES).all()


def test_a_worker_that_is_held_up_elsewhere_is_not_waited_for_and_is_back_later() -> None:
    crew = Crew(2)
    held, free, back = threading.Event(), threading.Event(), threading.Event()

    def elsewhere(team: Team) -> None:
        held.set()
        assert free.wait(20)

    crew._jobs[0].put((elsewhere, for_two(), 0.0))
    assert held.wait(20)
    assert (done_by(crew) == PIECES).all(), "done by the caller alone"
    free.set()
    # What it comes too late for, it leaves alone: nothing of it is there any more.
    crew._jobs[0].put((lambda team: back.set(), for_two(), 0.0))
    assert back.wait(20)
    assert (done_by(crew) == PIECES).all()


def test_who_leaves_its_processor_to_others_is_not_waited_for() -> None:
    crew = Crew(num_processors())
    marks = np.zeros((PHASES, PIECES), np.int64)
    began_s = time.monotonic()
    crew.run(lambda team: mark(team, marks), PHASES, others_s=30.0)
    assert (marks == PIECES).all()
    assert crew.workers == 1 or time.monotonic() - began_s < 30.0
