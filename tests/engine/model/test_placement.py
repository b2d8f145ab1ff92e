"""Where a crew's other threads may run: never where its caller does."""

from __future__ import annotations

import os
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.model.compiled.placement import Placement, elsewhere

PROCESSORS = st.integers(0, 255)


@given(st.frozensets(PROCESSORS, min_size=1), PROCESSORS)
def test_the_others_get_all_other_processors_and_never_none(allowed: frozenset[int], here: int) -> None:
    rest = elsewhere(allowed, here)
    assert rest and rest <= allowed
    assert allowed - {here} <= rest
    assert here not in rest or rest == {here}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a thread be kept off a processor")
def test_another_thread_is_kept_off_the_callers_processor_and_follows_where_it_goes() -> None:
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    mine = os.sched_getaffinity(0)
    try:
        assert other.native_id is not None
        placement = Placement([other.native_id])
        for here in sorted(mine)[:2]:
            os.sched_setaffinity(0, {here})
            # Pinned, the caller's own choice is this one alone: the other is told so, and asks no more.
            placement.make_room()
            assert os.sched_getaffinity(other.native_id) == {here}
        os.sched_setaffinity(0, mine)
        fresh = Placement([other.native_id])
        fresh.make_room()
        assert os.sched_getaffinity(other.native_id) < mine or len(mine) == 1
        assert os.sched_getaffinity(0) == mine
    finally:
        os.sched_setaffinity(0, mine)
        over.set()
        other.join()
