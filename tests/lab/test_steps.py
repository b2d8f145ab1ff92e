"""The feed of engine steps: costs nothing unheard, names nobody, and grows nowhere."""

import asyncio
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Overloaded
from app.generation import Phase, StepRecord
from app.lab.steps import MAX_LISTENERS, MAX_STEPS, LabStep, StepFeed, merge


class Engine:
    """Tells its steps to whoever watches."""

    def __init__(self) -> None:
        self.watchers: list[Callable[[StepRecord], None]] = []

    def watch(self, sink: Callable[[StepRecord], None]) -> Callable[[], None]:
        self.watchers.append(sink)
        return lambda: self.watchers.remove(sink)

    def step(self, *rows: tuple[str, Phase, int], at_ns: int = 0) -> None:
        for sink in list(self.watchers):
            sink(StepRecord(at_ns, 5_000_000, list(rows), 3, 64, 1, 0))


def feed(engine: Engine) -> StepFeed:
    return StepFeed(engine.watch, lambda: 1_000_000)


async def test_the_engine_is_watched_only_while_somebody_listens() -> None:
    engine = Engine()
    steps = feed(engine)
    assert engine.watchers == []
    first, second = steps.listen(), steps.listen()
    assert len(engine.watchers) == 1
    first.close()
    first.close()
    assert len(engine.watchers) == 1
    second.close()
    assert engine.watchers == []


async def test_a_listener_hears_numbers_and_never_names() -> None:
    engine = Engine()
    listener = feed(engine).listen()
    engine.step(("secret-a", "prefill", 9), at_ns=3_000_000)
    engine.step(("secret-b", "prefill", 4), ("secret-a", "decode", 1))
    steps = await listener.next()
    assert [step.rows for step in steps] == [[(1, "prefill", 9)], [(2, "prefill", 4), (1, "decode", 1)]]
    assert (steps[0].t, steps[0].ms, steps[0].kv_used, steps[0].kv_total) == (2.0, 5.0, 3, 64)
    assert "secret" not in repr(steps)


async def test_a_slow_listener_gets_fewer_steps_with_all_their_work() -> None:
    engine = Engine()
    listener = feed(engine).listen()
    for _ in range(MAX_STEPS * 3):
        engine.step(("a", "decode", 1))
    steps = await listener.next()
    assert len(steps) == MAX_STEPS
    assert sum(step.steps for step in steps) == MAX_STEPS * 3
    assert sum(tokens for step in steps for _, _, tokens in step.rows) == MAX_STEPS * 3


async def test_who_waits_is_woken_by_the_next_step() -> None:
    engine = Engine()
    listener = feed(engine).listen()
    waiting = asyncio.ensure_future(listener.next())
    await asyncio.sleep(0)
    assert not waiting.done()
    engine.step(("a", "decode", 1))
    assert len(await waiting) == 1


async def test_there_are_only_so_many_listeners() -> None:
    steps = feed(Engine())
    listeners = [steps.listen() for _ in range(MAX_LISTENERS)]
    with pytest.raises(Overloaded, match="16 pages"):
        steps.listen()
    listeners[0].close()
    steps.listen()


ROWS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(get_args(Phase)), st.integers(1, 50)))
STEPS = st.builds(
    LabStep, st.just(0.0), st.integers(0, 99).map(float), st.integers(1, 5), ROWS, *[st.integers(0, 9)] * 4
)


@given(STEPS, STEPS)
def test_merging_loses_no_work_and_keeps_the_newest_state(first: LabStep, second: LabStep) -> None:
    merged = merge(first, second)
    assert merged.steps == first.steps + second.steps
    assert merged.ms == first.ms + second.ms
    assert sum(row[2] for row in merged.rows) == sum(row[2] for row in first.rows + second.rows)
    assert (merged.kv_used, merged.waiting) == (second.kv_used, second.waiting)
    assert len({row[:2] for row in merged.rows}) == len(merged.rows)
