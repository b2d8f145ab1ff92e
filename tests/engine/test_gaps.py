"""What a newcomer's long prompt does to those who stream: the whole loop over a machine with prices.

Each step of the toy model takes as long as the prices say, on a clock that only they move.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import pytest
import torch

from app.engine.commands import Watch
from app.engine.runner_protocol import Chunk, DecodeRow
from app.generation import StepRecord
from app.prompt import Prompt
from tests.engine.tiny import FakeClock, TinyRunner, World

MS = 1_000_000


class Priced(TinyRunner):
    """A step costs 30 ms for decoding, 30 for holding any piece of a prompt, and 2 a prompt token."""

    clock: FakeClock

    def step(self, chunks: Sequence[Chunk], decode: Sequence[DecodeRow]) -> torch.Tensor:
        tokens = sum(len(chunk.token_ids) for chunk in chunks)
        self.clock.now_ns += (30 * bool(decode) + 30 * bool(tokens) + 2 * tokens) * MS
        return super().step(chunks, decode)


def world_with_prices(gap_ratio: float) -> World:
    runner = Priced()
    world = World(real_runner=runner, prefill_chunk_tokens=64, prefill_gap_ratio=gap_ratio)
    runner.clock = world.clock
    world.apply(Watch(True))
    return world


def ask(world: World, id: str, num_prompt: int, max_tokens: int, *, at_once: bool = False) -> None:
    # Begins unlike any other's, so that nothing of it is cached.
    text = (id * num_prompt)[:num_prompt]
    prompt = Prompt(id=id, text=text, max_tokens=max_tokens, ignore_eos=True, prefill_at_once=at_once)
    world.add(prompt)


def steps_beside_streams(world: World, newcomer: str) -> list[StepRecord]:
    return [
        step
        for step in world.steps
        if {phase for _, phase, _ in step.rows} == {"prefill", "decode"}
        and any(id == newcomer and phase == "prefill" for id, phase, _ in step.rows)
    ]


@pytest.mark.parametrize(("ratio", "least"), [(2.0, 6), (2.5, 7), (3.0, 14)])
def test_no_step_beside_streams_is_longer_than_the_ratio_or_the_least_piece_makes_it(ratio, least):
    world = world_with_prices(ratio)
    for id in "abc":
        ask(world, id, 30, 200)
    while len(world.steps) < 30:
        world.loop.run_once()
    ask(world, "new", 240, 4)
    world.run()
    beside = steps_beside_streams(world, "new")
    plain_ns = median(s.duration_ns for s in world.steps if {p for _, p, _ in s.rows} == {"decode"})
    sizes = [sum(n for _, phase, n in s.rows if phase == "prefill") for s in beside]
    allowed_ns = max(ratio * plain_ns, plain_ns + (30 + 2 * 6) * MS)
    assert max(s.duration_ns for s in beside) <= 1.1 * allowed_ns
    # Careful, but not to the point of starving the newcomer: the ratio is made use of.
    assert median(sizes) >= least


def test_nobody_streaming_means_whole_pieces():
    world = world_with_prices(2.0)
    ask(world, "long", 240, 4)
    world.run()
    sizes = [n for s in world.steps for _, phase, n in s.rows if phase == "prefill"]
    assert sizes == [64, 64, 64, 48]


def test_a_prompt_read_at_once_is_one_step_that_everybody_feels_and_teaches_nothing():
    world = world_with_prices(2.0)
    for id in "abc":
        ask(world, id, 30, 200)
    while len(world.steps) < 30:
        world.loop.run_once()
    careful = world.loop._budget.tokens(3, 1)
    ask(world, "new", 240, 4, at_once=True)
    while not steps_beside_streams(world, "new"):
        world.loop.run_once()
    assert world.loop._budget.tokens(3, 1) == careful
    world.run()
    (spike,) = steps_beside_streams(world, "new")
    assert ("new", "prefill", 240) in spike.rows
    assert spike.duration_ns >= (30 + 30 + 2 * 240) * MS
