"""Where those may run who are woken: never where the one does who wakes them."""

from __future__ import annotations

import os
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.placement import Placement, elsewhere

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
            placement.make_room()
            assert os.sched_getaffinity(other.native_id) == elsewhere(mine, here)
            assert os.sched_getaffinity(0) == {here}
    finally:
        os.sched_setaffinity(0, mine)
        over.set()
        other.join()
