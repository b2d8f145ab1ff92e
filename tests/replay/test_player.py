"""A recording as an engine, on a clock that the tests move by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import BadRequest, ServerShutdown
from app.generation import Begun, Ended, Engine, Failed, Output, Paused, Piece, Resumed, Waiting
from app.replay.player import Player
from tests.replay.hand_timers import HandTimers
from tests.replay.samples import PIECES, Pieces, sample

ORDER = "Waiting+ Begun (Piece | Paused | Resumed)* Ended"


class Stage:
    """A player, its clock, and what it told of one sequence with the time of each."""

    def __init__(self, pieces: Pieces = PIECES, **options: Any) -> None:
        self.timers = HandTimers()
        self.player = Player(
            sample(pieces), clock=self.timers.now_ns, call_later=self.timers.call_later, **options
        )
        self.began_ns = self.timers.now_ns()
        self.outputs: list[Output] = []

    def submit(self, id: str = "a", granted: int | None = None) -> None:
        prompt = msgspec.structs.replace(self.player.prompt(id), granted_tokens=granted)
        self.player.submit(prompt, self.outputs.append)

    def t(self, output: Output) -> float:
        return round((output.at_ns - self.began_ns) / 1e6, 3)

    def told(self) -> list[tuple[str, float]]:
        return [(type(output).__name__, self.t(output)) for output in self.outputs]

    @property
    def text(self) -> str:
        return "".join(output.text for output in self.outputs if isinstance(output, Piece))

    @property
    def ended(self) -> Ended:
        ended = self.outputs[-1]
        assert isinstance(ended, Ended)
        return ended


def test_every_piece_comes_at_its_recorded_time() -> None:
    stage = Stage()
    stage.submit()
    assert stage.outputs == [], "the outputs begin with the next turn of the loop"
    stage.timers.advance(5000)
    assert stage.told() == [
        ("Waiting", 0.0),
        ("Begun", 20.0),
        ("Piece", 100.0),
        ("Piece", 180.0),
        ("Piece", 1500.0),
        ("Piece", 1600.0),
        ("Ended", 1610.0),
    ]
    assert stage.text == "Hello, wide world! 🫖"
    ended = stage.ended
    assert (ended.finish_reason, ended.prompt_tokens, ended.completion_tokens) == ("stop", 7, 7)
    assert ended.cached_tokens == 2 and ended.paused_ns == 0
    assert ended.begun_ns is not None and ended.first_token_ns is not None
    assert ended.first_token_ns - ended.begun_ns == 80_000_000
    assert ended.last_token_ns == ended.first_token_ns + 1_500_000_000


def test_it_says_that_it_is_a_recording_and_keeps_the_engines_promise() -> None:
    engine: Engine = Stage().player
    assert engine.model.name == "tiny (recording)" and engine.model.device == "cpu"
    assert engine.status.state == "ready"


@pytest.mark.parametrize("speed", [0.1, 0.5, 4.0])
def test_speed_divides_all_times(speed: float) -> None:
    stage = Stage(speed=speed)
    stage.submit()
    stage.timers.advance(20_000)
    times = [t for name, t in stage.told() if name == "Piece"]
    assert times == pytest.approx([t / speed for _, _, t in PIECES], abs=0.001)


@pytest.mark.parametrize("speed", [0, -1, 1000])
def test_a_speed_that_is_none_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        Player(sample(), speed=speed)


def test_without_a_grant_it_stops_and_the_rest_moves_back_by_as_long() -> None:
    stage = Stage()
    stage.submit(granted=3)
    stage.timers.advance(1000)
    assert stage.told()[-1] == ("Paused", 180.0)
    paused = stage.outputs[-1]
    assert isinstance(paused, Paused) and paused.made == 3
    stage.player.grant("a", 3)
    stage.timers.advance(1000)
    assert stage.told()[-1] == ("Paused", 180.0), "the same grant again is none"
    stage.player.grant("a", 100)
    stage.timers.advance(10_000)
    assert stage.told()[-4:] == [("Resumed", 2000.0), ("Piece", 3320.0), ("Piece", 3420.0), ("Ended", 3430.0)]
    assert stage.ended.paused_ns == 1_820_000_000
    assert stage.text == sample().reply.text


def test_the_first_token_is_free_and_the_end_needs_no_grant() -> None:
    stage = Stage([("all of it", 4, 50.0)])
    stage.submit(granted=0)
    stage.timers.advance(1000)
    assert [name for name, _ in stage.told()] == ["Waiting", "Begun", "Piece", "Ended"]


@pytest.mark.parametrize(("after_ms", "text", "made"), [(0, "", 0), (60, "", 0), (200, "Hello, wide", 3)])
def test_cancelling_ends_it_with_what_was_said(after_ms: float, text: str, made: int) -> None:
    stage = Stage()
    stage.submit()
    stage.timers.advance(after_ms)
    stage.player.cancel("a")
    stage.player.cancel("a")
    stage.timers.advance(10_000)
    assert (stage.ended.finish_reason, stage.text, stage.ended.completion_tokens) == ("cancelled", text, made)
    assert [name for name, _ in stage.told()].count("Ended") == 1
    stage.player.cancel("a")
    stage.player.cancel("nobody")
    stage.player.grant("nobody", 5)


def test_cancelling_works_while_it_is_stopped() -> None:
    stage = Stage()
    stage.submit(granted=1)
    stage.timers.advance(500)
    stage.player.cancel("a")
    stage.timers.advance(10)
    assert stage.ended.finish_reason == "cancelled" and stage.ended.paused_ns == 400_000_000


def test_a_sink_may_cancel_its_own_sequence() -> None:
    stage = Stage()
    outputs: list[Output] = []

    def sink(output: Output) -> None:
        outputs.append(output)
        if isinstance(output, Piece):
            stage.player.cancel("a")

    stage.player.submit(stage.player.prompt("a"), sink)
    stage.timers.advance(10_000)
    assert [type(output) for output in outputs] == [Waiting, Begun, Piece, Ended]


def test_two_readers_of_one_recording_do_not_disturb_each_other() -> None:
    stage = Stage()
    stage.submit("a", granted=1)
    stage.timers.advance(50)
    stage.submit("b")
    stage.timers.advance(10_000)
    of_b = [(type(o).__name__, stage.t(o) - 50) for o in stage.outputs if o.id == "b"]
    assert of_b[-1] == ("Ended", 1610.0)
    with pytest.raises(BadRequest, match="already running"):
        stage.submit("a")


async def test_stopping_the_engine_fails_what_plays_and_refuses_what_comes() -> None:
    stage = Stage()
    stage.submit()
    stage.timers.advance(150)
    await stage.player.stop()
    assert isinstance(stage.outputs[-1], Failed) and stage.outputs[-1].code == "server_shutdown"
    stage.timers.advance(10_000)
    assert isinstance(stage.outputs[-1], Failed)
    with pytest.raises(ServerShutdown):
        stage.submit("b")


async def test_it_counts_the_recorded_prompt_and_has_no_steps() -> None:
    player = Stage().player
    assert await player.count_tokens(player.prompt("x")) == 7
    player.watch_steps(lambda step: None)()


@given(
    st.lists(st.tuples(st.text("abc ", max_size=4), st.integers(0, 3), st.integers(20, 3000)), max_size=12),
    st.lists(st.tuples(st.integers(0, 900), st.integers(0, 30)), max_size=8),
)
def test_whatever_is_granted_and_when_the_text_is_whole_and_the_order_kept(
    made: list[tuple[str, int, int]], grants: list[tuple[int, int]]
) -> None:
    pieces = [(text, tokens, float(t)) for text, tokens, t in sorted(made, key=lambda piece: piece[2])]
    stage = Stage(pieces)
    stage.submit(granted=1)
    granted = 1
    for wait_ms, more in grants:
        stage.timers.advance(wait_ms)
        granted += more
        stage.player.grant("a", granted)
    stage.timers.advance(5000)
    stage.player.grant("a", 1000)
    stage.timers.advance(10_000)
    assert stage.text == "".join(text for text, _, _ in pieces)
    kinds = [type(output) for output in stage.outputs]
    assert kinds[:2] == [Waiting, Begun] and kinds[-1] is Ended and kinds.count(Ended) == 1, ORDER
    turns = [kind for kind in kinds if kind in (Paused, Resumed)]
    assert turns == [Paused, Resumed] * (len(turns) // 2)
    times = [output.at_ns for output in stage.outputs]
    assert times == sorted(times)
