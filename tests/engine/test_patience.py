from __future__ import annotations

from app.engine.patience import BackOff, Patience, Watchdog


def test_the_back_off_doubles_up_to_its_limit():
    back_off = BackOff(Patience(back_off_s=0.5, back_off_max_s=10))
    assert [back_off.after(ran_s=1) for _ in range(7)] == [0.5, 1, 2, 4, 8, 10, 10]


def test_a_minute_of_health_begins_it_anew():
    back_off = BackOff(Patience(back_off_s=0.5, healthy_s=60))
    assert [back_off.after(ran_s) for ran_s in (1, 59.9, 60, 1)] == [0.5, 1, 0.5, 1]


def test_silence_is_a_hang_only_when_it_lasts():
    watchdog = Watchdog(Patience(hang_s=30, tick_s=1))
    assert not any(watchdog.tick() for _ in range(30))
    assert watchdog.tick()


def test_anything_heard_ends_the_silence():
    watchdog = Watchdog(Patience(hang_s=3, tick_s=1))
    for _ in range(20):
        assert not watchdog.tick()
        watchdog.heard()


def test_a_silence_is_told_long_before_it_counts_as_a_hang():
    watchdog = Watchdog(Patience(hang_s=30, stall_s=5, tick_s=1))
    for _ in range(4):
        watchdog.tick()
    assert watchdog.stalled_s is None
    assert not watchdog.tick() and watchdog.stalled_s == 5
    watchdog.heard()
    assert watchdog.stalled_s is None


def test_a_beating_child_whose_step_does_not_end_hangs():
    watchdog = Watchdog(Patience(hang_s=30, stall_s=5))
    watchdog.heard(in_step_ms=4_999)
    assert watchdog.stalled_s is None
    watchdog.heard(in_step_ms=5_000)
    assert watchdog.stalled_s == 5 and not watchdog.tick()
    watchdog.heard()  # other frames say nothing about the step
    watchdog.heard(in_step_ms=30_001)
    assert watchdog.tick()
    watchdog.heard(in_step_ms=0)
    assert watchdog.stalled_s is None and not watchdog.tick()
