"""Where the wait for the first word went."""

from __future__ import annotations

from app.events import Timings
from app.timeline.stages import Stages, stages_of

TIMINGS = Timings(
    queue_ms=12.0, prefill_ms=80.0, first_token_ms=92.0, decode_ms=900.0, paused_ms=0.0, total_ms=1000.0
)


def test_the_stages_add_up_to_the_time_to_the_first_paint() -> None:
    stages = stages_of(TIMINGS, first_out_t_ms=130.0, first_arrival_ms=133.5, first_paint_ms=141.0)
    assert stages == Stages(queue_ms=12, prefill_ms=80, hold_back_ms=38, network_ms=3.5, paint_ms=7.5)
    assert sum((12, 80, 38, 3.5, 7.5)) == 141.0


def test_what_nobody_measured_is_none_and_not_guessed() -> None:
    assert stages_of(None, first_out_t_ms=None, first_arrival_ms=133.5, first_paint_ms=141.0) == Stages(
        None, None, None, None, 7.5
    )
    assert stages_of(TIMINGS, first_out_t_ms=92.0, first_arrival_ms=None) == Stages(12, 80, 0, None, None)
