"""One reply of a recording, with times passed in."""

from __future__ import annotations

from app.events import Delta, Done
from app.generation import Ended
from app.prompt import Prompt
from app.replay.playback import Playback
from app.replay.score import score_of
from tests.replay.samples import sample

MS = 1_000_000


def playback(granted: int | None = None, speed: float = 1.0) -> Playback:
    score = score_of(sample([("one", 1, 100.0), ("two", 1, 200.0)]))
    return Playback(
        Prompt("a", text="x", granted_tokens=granted), lambda output: None, score, speed, 1000 * MS
    )


def test_every_cue_is_due_by_the_recordings_own_clock_however_late_the_last_one_was() -> None:
    one = playback(speed=2.0)
    assert one.take() is None
    one.begin(1500 * MS)
    assert one.due_ns == 1050 * MS
    assert isinstance(one.take(), Delta)
    assert one.due_ns == 1100 * MS


def test_sleep_moves_the_rest_back_and_is_counted_once() -> None:
    one = playback(granted=1)
    one.take()
    delta = one.take()
    assert isinstance(delta, Delta)
    one.say(delta, 1100 * MS)
    assert not one.may_go_on
    assert one.pause(1100 * MS).made == 1
    one.granted = 9
    one.wake(1400 * MS)
    assert one.may_go_on and not one.paused and one.due_ns == 1500 * MS
    ended = one.end("cancelled", 1450 * MS)
    assert (ended.paused_ns, ended.completion_tokens, ended.stop) == (300 * MS, 1, None)


def test_the_end_needs_no_grant() -> None:
    one = playback(granted=1)
    for _ in range(3):
        cue = one.take()
        if isinstance(cue, Delta):
            one.say(cue, 1200 * MS)
    assert one.may_go_on
    done = one.take()
    assert isinstance(done, Done)
    ended = one.end(done.finish_reason, 1300 * MS)
    assert isinstance(ended, Ended) and ended.completion_tokens == done.usage.completion_tokens
