"""The compiled forward pass: close to the reference, and for each row the same bits in any company."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.model.architecture import parse
from app.engine.model.load import suited
from app.engine.model.numerics import choose, compiled, of_torch
from app.engine.model.runner import Runner
from app.engine.model.tensors import Dense, EightBit, FourBit
from app.engine.runner_protocol import Chunk
from app.errors import EngineFailed
from tests.engine.model.models import all_logits, make, reference, runner_of

# Compiling takes half a minute where nobody has done it yet.
pytestmark = pytest.mark.timeout(400)


def _compiled(folder: Path) -> Runner:
    runner = runner_of(folder, dtype=compiled())
    assert type(runner.model).__name__ == "CompiledLlama"
    return runner


def _tokens(seed: int, count: int) -> list[int]:
    return torch.randint(3, 97, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.mark.parametrize("family", ["llama", "llama3", "mistral", "qwen2", "qwen3"])
def test_every_family_is_close_to_transformers(family: str, tmp_path: Path) -> None:
    """With biases, norms of heads, odd head sizes and a vocabulary that is no multiple of eight."""
    theirs, tokens = make(family, tmp_path), _tokens(1, 150)
    right = reference(theirs, tokens).log_softmax(-1)
    got = all_logits(_compiled(tmp_path), tokens, 60).log_softmax(-1)
    assert (right.exp() * (right - got)).sum(-1).mean() < 0.002
    assert (got - right).abs().max() < 0.3


@given(
    cuts=st.lists(st.integers(1, 49), max_size=4, unique=True),
    neighbours=st.lists(
        st.tuples(st.integers(1, 5), st.integers(1, 60)), max_size=4, unique_by=lambda n: n[0]
    ),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_chunks_and_neighbours_change_no_bit(
    small: Runner, cuts: list[int], neighbours: list[tuple[int, int]]
) -> None:
    tokens = _tokens(2, 50)
    right = small.step([Chunk(0, 0, tokens, True)], [])[0]
    edges = [0, *sorted(cuts), 50]
    for start, end in zip(edges, edges[1:], strict=False):
        others = [Chunk(slot, 0, _tokens(slot, count), count % 2 == 0) for slot, count in neighbours]
        got = small.step([Chunk(0, start, tokens[start:end], end == 50), *others], [])
    assert torch.equal(got[0], right)
    wanting = [chunk for chunk in others if chunk.wants_logits]
    assert len(got) == 1 + len(wanting)
    for mine, chunk in zip(got[1:], wanting, strict=True):
        assert torch.equal(mine, small.step([chunk], [])[0])


@pytest.mark.parametrize("rows", range(1, 10))
def test_a_crowd_decodes_what_each_would_alone(small: Runner, rows: int) -> None:
    slots = [slot % 6 for slot in range(rows)][:6]
    for slot in slots:
        small.step([Chunk(slot, 0, _tokens(slot, 10 + slot), False)], [])
    work = [(slot, 10 + slot, 5 + slot) for slot in slots]
    together = small.step([], work)
    alone = torch.cat([small.step([], [one]) for one in work])
    assert torch.equal(together, alone)


@pytest.mark.parametrize("wants_logits", [True, False])
@pytest.mark.parametrize("of", ["keys", "values"])
def test_keys_and_values_that_float16_cannot_hold_fail_their_row(
    of: str, wants_logits: bool, tmp_path: Path
) -> None:
    """Rounded to integers they would end as logits that look like any others."""
    make("llama3", tmp_path)  # has biases
    runner = _compiled(tmp_path)
    bias = runner.model._weights.query_key_value.bias  # type: ignore[attr-defined]
    place = (4 if of == "keys" else 6) * 16
    bias[0, place] = 60_000.0
    tokens = _tokens(3, 20)
    assert torch.isfinite(runner.step([Chunk(0, 0, tokens, True)], [])).all()
    bias[0, place + 2] = 100_000.0
    with pytest.raises(EngineFailed, match="float16"):
        runner.step([Chunk(0, 0, tokens, wants_logits)], [])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_output_that_is_not_a_number_fails_its_row(bad: float, tmp_path: Path) -> None:
    make("llama3", tmp_path)
    runner = _compiled(tmp_path)
    runner.model._weights.down.bias[1, 5] = bad  # type: ignore[attr-defined]
    with pytest.raises(EngineFailed, match="infinite"):
        runner.step([Chunk(0, 0, _tokens(3, 20), True)], [])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    folder = tmp_path_factory.mktemp("llama")
    make("llama", folder)
    return _compiled(folder)


def test_a_model_whose_sizes_are_no_multiples_takes_torchs_products(tmp_path: Path) -> None:
    make("llama", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    arch = parse(config | {"intermediate_size": 100})
    assert arch is not None and suited(arch, compiled()) == of_torch()


def test_the_reference_is_never_compiled() -> None:
    assert not choose("cpu", "float32").compiled


class TestPacking:
    def test_dense_weights_keep_their_values_to_a_part_of_254(self) -> None:
        from app.engine.model.compiled.packing import eight_bit

        weight = torch.randn(9, 64, generator=torch.Generator().manual_seed(0))
        got = eight_bit(Dense(weight)).dense(torch.float32)
        largest = weight.view(9, 2, 32).abs().amax(-1, keepdim=True).expand(9, 2, 32).reshape(9, 64)
        assert ((got - weight).abs() <= largest / 254 * 1.01).all()

    def test_a_group_of_zeros_stays_zero(self) -> None:
        from app.engine.model.compiled.packing import eight_bit

        assert not eight_bit(Dense(torch.zeros(8, 32))).dense(torch.float32).any()

    def test_what_is_in_eight_bits_already_is_not_rounded_again(self) -> None:
        from app.engine.model.compiled.packing import eight_bit

        weight = EightBit(torch.ones(8, 32, dtype=torch.int8), torch.ones(8, 1))
        assert eight_bit(weight) is weight

    def test_layers_of_different_formats_become_eight_bits(self) -> None:
        from app.engine.model.compiled.packing import packed

        four = FourBit(torch.zeros(8, 16, dtype=torch.uint8), torch.ones(8, 1), torch.ones(8, 1))
        assert packed([four, four], [None, None]).codes.shape == (2, 1, 1, 128)
        assert packed([four, Dense(torch.ones(8, 32))], [None, None]).codes.shape == (2, 1, 1, 256)


def test_the_exponential_is_as_exact_as_it_says() -> None:
    from app.engine.model.compiled.arithmetic import exp

    for x in np.linspace(-85, 85, 4001, dtype=np.float32):
        right = np.exp(np.float64(x))
        assert abs(exp(x) - right) <= 1e-5 * right
