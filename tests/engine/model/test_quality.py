"""The default model on this machine's fastest path against the float32 reference, on real prose.

Rounding is allowed to change probabilities a little; it is checked, not hoped for. The text is
the opening of Lewis Carroll's "Alice's Adventures in Wonderland" (1865, public domain).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from app.engine.commands import Grant, Watch
from app.engine.model import load
from app.engine.model.runner import Runner
from app.engine.runner_protocol import Chunk
from app.engine.tokenizer import Tokenizer
from app.generation import Piece
from app.prompt import Prompt, Sampling
from app.settings import Settings
from tests.engine.model.models import all_logits
from tests.engine.tiny import World

# Hundreds of steps of the real model: a minute on a busy machine.
pytestmark = [pytest.mark.model, pytest.mark.timeout(400)]


@dataclass(frozen=True)
class Reading:
    """The text, and what the two paths make of it; log-probabilities are [tokens, vocab]."""

    ids: list[int]
    tokenizer: Tokenizer
    reference: torch.Tensor
    exact: Runner
    default: Runner


@pytest.fixture(scope="module")
def reading() -> Reading:
    exact, tokenizer = load(Settings(dtype="float32"), lambda what, part: None)
    ids = tokenizer.encode_text((Path(__file__).parent / "prose.txt").read_text())
    assert isinstance(exact, Runner)
    reference = all_logits(exact, ids, len(ids)).log_softmax(-1)
    default, _ = load(Settings(), lambda what, part: None)
    assert isinstance(default, Runner)
    return Reading(ids, tokenizer, reference, exact, default)


# Few and many rows take different operators; 4 is a small crowd decoding, 128 a prompt's chunk.
@pytest.mark.parametrize("width", [4, 128])
def test_the_default_path_stays_close_to_the_reference(reading: Reading, width: int) -> None:
    assert_close(reading, reading.default, width)


@pytest.mark.parametrize("width", [4, 128])
def test_bfloat16_stays_close_to_the_reference(reading: Reading, width: int) -> None:
    runner, _ = load(Settings(dtype="bfloat16"), lambda what, part: None)
    assert isinstance(runner, Runner)
    if not runner.model.numerics.packed:
        pytest.skip("this processor has no bf16 instructions: it would take plain products, and minutes")
    assert_close(reading, runner, width)


def assert_close(reading: Reading, runner: Runner, width: int) -> None:
    assert len(reading.ids) >= 512
    right = reading.reference
    got = all_logits(runner, reading.ids, width).log_softmax(-1)
    divergence = (right.exp() * (right - got)).sum(-1).mean()
    agreement = (right.argmax(-1) == got.argmax(-1)).float().mean()
    print(f"{width} rows a step: mean KL {divergence:.5f}, top-1 agreement {agreement:.4f}")
    assert divergence <= 0.005
    assert agreement >= 0.95


def test_a_cached_prefix_changes_no_bit(reading: Reading) -> None:
    """The same prompt asked twice gets the same text at temperature 0, on rounded arithmetic too."""
    runner, ids, last = reading.default, reading.ids[:45], 44

    def logits(first: Chunk) -> list[torch.Tensor]:
        slot, out = first.slot, [runner.step([first], [])[0]]
        for position in range(45, 61):
            out.append(runner.step([], [(slot, position, int(out[-1].argmax()))])[0])
        return out

    whole = logits(Chunk(2, 0, ids, True))
    runner.copy(2, 5, last)
    reused = logits(Chunk(5, last, ids[last:], True))
    torch.testing.assert_close(torch.stack(reused), torch.stack(whole), atol=0, rtol=0)


@pytest.mark.parametrize("path", ["exact", "default"])
def test_neighbours_pauses_chunks_and_preemption_change_no_token(reading: Reading, path: str) -> None:
    runner: Runner = getattr(reading, path)
    ways = [
        Sampling(logprobs=0),
        Sampling(logprobs=0, temperature=0.8, top_p=0.95, seed=5),
        Sampling(logprobs=0, repetition_penalty=1.2, logit_bias={49151: 2.0}),
        Sampling(logprobs=0, temperature=1.5, seed=9),
    ]
    text = (Path(__file__).parent / "prose.txt").read_text()
    prompts = [
        Prompt(f"s{n}", text=text[: 300 + 40 * n], max_tokens=16, ignore_eos=True, sampling=way)
        for n, way in enumerate(ways)
    ]

    def tokens(world: World, id: str) -> list[int]:
        return [info.token_id for told in world.outputs(id) if isinstance(told, Piece) for info in told.info]

    def world(**settings: Any) -> World:
        return World(real_runner=runner, real_tokenizer=reading.tokenizer, **settings)

    alone: dict[str, list[int]] = {}
    for prompt in prompts:
        single = world(max_batch=1, prefill_chunk_tokens=1000)
        single.add(prompt)
        single.run()
        alone[prompt.id] = tokens(single, prompt.id)
        assert len(alone[prompt.id]) == 16
    # Room for their prompts, not for all of their answers: one of them is preempted. Another is paused.
    crowd = world(prefill_chunk_tokens=24, num_blocks=18)
    crowd.apply(Watch(True))
    for prompt in prompts:
        crowd.add(msgspec.structs.replace(prompt, granted_tokens=5 if prompt.id == "s1" else None))
        for _ in range(3):
            crowd.loop.run_once()
    crowd.run()
    crowd.apply(Grant("s1", 100))
    crowd.run()
    assert {id: tokens(crowd, id) for id in alone} == alone
    phases = [(id, phase) for step in crowd.steps for id, phase, _ in step.rows]
    read_again = [id for id in alone if (id, "prefill") in phases[phases.index((id, "decode")) :]]
    assert read_again, "nobody was preempted"


def test_the_reference_reads_the_text_as_a_language_model_should(reading: Reading) -> None:
    """Guards the reference itself: broken weights agree with themselves too. Chance is ln 49152 = 10.8."""
    following = torch.tensor(reading.ids[1:])[:, None]
    assert -reading.reference[:-1].gather(1, following).mean() < 3.5
