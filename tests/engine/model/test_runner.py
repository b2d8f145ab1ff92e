"""The hand-written forward pass against transformers' own, however the work is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from app.engine.model import generic
from app.engine.model.batch import lay_out
from app.engine.model.llama import Llama
from app.engine.model.numerics import choose, packed
from app.engine.model.static_decode import StaticDecode
from app.engine.runner_protocol import Chunk, ModelRunner
from app.engine.weights import ModelFolder
from app.settings import Settings
from tests.engine.model.models import VOCABULARY, make, reference, runner_of

OURS = ["llama", "llama3", "mistral", "qwen2", "qwen3"]
THEIRS = ["gpt2", "gpt_neox"]


def _tokens(seed: int, count: int) -> list[int]:
    return torch.randint(3, VOCABULARY, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.fixture(scope="module", params=OURS + THEIRS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ModelRunner]:
    folder = tmp_path_factory.mktemp(request.param)
    theirs = make(request.param, folder)
    if request.param in THEIRS:
        settings, numerics = Settings(max_batch=3), choose("cpu", "float32")
        ours: ModelRunner = generic.load(ModelFolder(folder, "x"), numerics, settings)
    else:
        ours = runner_of(folder)
    return theirs, ours


def _near(got: torch.Tensor, right: torch.Tensor) -> None:
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, right, atol=1e-4, rtol=0)


def test_a_prompt_in_one_piece(both: tuple[Any, ModelRunner]) -> None:
    theirs, ours = both
    tokens = _tokens(1, 40)
    _near(ours.step([Chunk(0, 0, tokens, True)], []), reference(theirs, tokens)[-1:])


@pytest.mark.parametrize("cut", [1, 2, 16, 39])
def test_a_prompt_in_pieces_then_single_tokens(both: tuple[Any, ModelRunner], cut: int) -> None:
    theirs, ours = both
    tokens = _tokens(2, 50)
    right = reference(theirs, tokens)
    assert ours.step([Chunk(1, 0, tokens[:cut], False)], []).shape == (0, VOCABULARY)
    _near(ours.step([Chunk(1, cut, tokens[cut:40], True)], []), right[39:40])
    for position in range(40, 50):
        _near(ours.step([], [(1, position, tokens[position])]), right[position : position + 1])


def test_prompts_and_single_tokens_together_in_any_slots(both: tuple[Any, ModelRunner]) -> None:
    """Chunks that want logits come first, then the decode rows, in the order they were given."""
    theirs, ours = both
    lengths = {4: 30, 0: 31, 3: 90, 1: 12}
    texts = {slot: _tokens(10 + slot, length) for slot, length in lengths.items()}
    for slot, tokens in texts.items():
        ours.step([Chunk(slot, 0, tokens[:-1], False)], [])
    new, half, single = _tokens(20, 9), _tokens(21, 20), _tokens(22, 7)
    ours.step([Chunk(5, 0, single[:-1], False)], [])
    got = ours.step(
        [Chunk(2, 0, half, False), Chunk(5, 6, single[-1:], True)],
        [(slot, length - 1, texts[slot][-1]) for slot, length in lengths.items()],
    )
    right = [reference(theirs, tokens)[-1] for tokens in (single, *texts.values())]
    _near(got, torch.stack(right))
    _near(ours.step([Chunk(0, 0, new, True)], [(3, 90, 5)]), torch.stack(
        [reference(theirs, new)[-1], reference(theirs, [*texts[3], 5])[-1]]
    ))  # fmt: skip
    _near(ours.step([Chunk(2, 20, new, True)], []), reference(theirs, half + new)[-1:])


def test_a_copied_prefix_goes_on_as_if_computed(both: tuple[Any, ModelRunner]) -> None:
    theirs, ours = both
    shared, left, right = _tokens(30, 33), _tokens(31, 8), _tokens(32, 8)
    ours.step([Chunk(0, 0, shared + left, False)], [])
    ours.copy(0, 2, len(shared))
    _near(ours.step([Chunk(2, 33, right, True)], []), reference(theirs, shared + right)[-1:])
    _near(ours.step([], [(0, 41, 9)]), reference(theirs, [*shared, *left, 9])[-1:])


def test_a_cut_slot_is_written_again(both: tuple[Any, ModelRunner]) -> None:
    theirs, ours = both
    kept, gone, new = _tokens(40, 32), _tokens(41, 60), _tokens(42, 20)
    ours.step([Chunk(3, 0, kept + gone, False)], [])
    ours.release(3, 32)
    _near(ours.step([Chunk(3, 32, new, True)], []), reference(theirs, kept + new)[-1:])
    ours.release(3, 0)
    _near(ours.step([Chunk(3, 0, new, True)], []), reference(theirs, new)[-1:])


def test_a_step_done_twice_gives_the_same(both: tuple[Any, ModelRunner]) -> None:
    """A failed step is retried in parts, so writing the same positions again must be harmless."""
    _, ours = both
    tokens = _tokens(50, 21)
    ours.step([Chunk(0, 0, tokens[:20], False)], [])
    once = ours.step([], [(0, 20, tokens[20])])
    torch.testing.assert_close(ours.step([], [(0, 20, tokens[20])]), once, atol=0, rtol=0)


@pytest.mark.parametrize("family", ["llama", "qwen3"])
def test_the_fixed_shapes_of_the_gpu_path_compute_the_same(family: str, tmp_path: Path) -> None:
    """The computation that CUDA captures, run here operator by operator."""
    make(family, tmp_path)
    ours = runner_of(tmp_path, slots=6)
    assert isinstance(ours.model, Llama)
    static = StaticDecode(ours.model, ours.kv, spare_slot=5, context_tokens=256, graphs=False)
    lengths = {3: 70, 0: 5, 1: 31}
    for slot, length in lengths.items():
        ours.step([Chunk(slot, 0, _tokens(slot, length), False)], [])
    rows = [(slot, length, 11 + slot) for slot, length in lengths.items()]
    with torch.inference_mode():
        got = static(lay_out([], rows))
    _near(got, ours.step([], rows))


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("family", ["llama", "qwen3"])
def test_cuda_graphs_give_the_same_as_the_cpu(family: str, tmp_path: Path) -> None:
    make(family, tmp_path)
    right, ours = runner_of(tmp_path), runner_of(tmp_path, device="cuda")
    tokens = _tokens(70, 300)[:200]
    for runner in (right, ours):
        runner.step([Chunk(0, 0, tokens[:90], True), Chunk(2, 0, tokens[:40], True)], [])
    for position in range(90, 120):
        rows = [(0, position, tokens[position]), (2, position - 50, tokens[position])][: 1 + position % 2]
        got, expected = ours.step([], rows).cpu(), right.step([], rows)
        torch.testing.assert_close(got, expected, atol=2e-3, rtol=0)


def test_no_work_gives_no_rows(both: tuple[Any, ModelRunner]) -> None:
    assert both[1].step([], []).shape == (0, VOCABULARY)


def test_the_packed_path_is_close_to_the_reference(tmp_path: Path) -> None:
    """Rounding to bf16 is all that sets it apart; slow, but the same, without bf16 instructions."""
    theirs = make("mistral", tmp_path)
    ours = runner_of(tmp_path, dtype=packed())
    tokens = _tokens(60, 40)
    right = reference(theirs, tokens).log_softmax(-1)
    got = ours.step([Chunk(0, 0, tokens[:30], True)], []).log_softmax(-1)
    assert (got[0] - right[29]).abs().max() < 0.2
    for position in range(30, 40):
        got = ours.step([], [(0, position, tokens[position])]).log_softmax(-1)
        assert (got[0] - right[position]).abs().max() < 0.2
