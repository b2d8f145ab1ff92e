"""Rows of logits become tokens, each as its own prompt asks, and fail one by one."""

from __future__ import annotations

import math

import pytest
import torch

from app.engine.choice import chance, choose
from app.engine.sampler import Drawn, Row, draw
from app.errors import EngineFailed
from app.prompt import Sampling


def row(sampling: Sampling = Sampling(), token_ids=(1, 2), num_prompt=1, seed=0, banned=()) -> Row:  # noqa: B008
    return Row(sampling, seed, list(token_ids), num_prompt, banned)


def one(logits: list[float], row: Row) -> Drawn:
    (drawn,) = draw(torch.tensor([logits]), [row])
    assert isinstance(drawn, Drawn)
    return drawn


@pytest.mark.parametrize("vocab", [7, 256, 1024])
def test_greedy_is_the_first_of_the_largest(vocab: int):
    logits = torch.randn(9, vocab)
    logits[0, 3] = logits[0, 5] = 100.0
    expected = logits.argmax(1).tolist()
    drawn = draw(logits, [row()] * 9)
    assert [d.token_id for d in drawn if isinstance(d, Drawn)] == expected
    assert expected[0] == 3


def test_penalties_bias_and_bans_change_the_choice():
    logits = [0.0, 3.0, 2.9, 2.0]
    assert one(logits, row()).token_id == 1
    assert one(logits, row(Sampling(repetition_penalty=2.0), [1, 2])).token_id == 3
    assert one(logits, row(Sampling(presence_penalty=1.0), [0, 1], 1)).token_id == 2
    assert one(logits, row(Sampling(presence_penalty=1.0), [1, 0], 1)).token_id == 1, "prompts do not count"
    assert one(logits, row(Sampling(frequency_penalty=0.06), [0, 1, 1], 1)).token_id == 2
    assert one(logits, row(Sampling(logit_bias={0: 5.0}))).token_id == 0
    assert one(logits, row(banned=(1, 2))).token_id == 3
    negative = [-1.0, -0.9, -3.0]
    assert one(negative, row(Sampling(repetition_penalty=2.0), [1, 1])).token_id == 0


def test_a_seed_gives_the_same_token_whatever_the_neighbours():
    sampling = Sampling(temperature=1.0)
    logits = torch.randn(1, 1024)
    lone = draw(logits.clone(), [row(sampling, seed=3)])[0]
    others = torch.cat((torch.randn(2, 1024), logits, torch.randn(1, 1024)))
    mixed = draw(others, [row(), row(sampling, seed=9), row(sampling, seed=3), row(sampling, seed=3)])
    assert mixed[2] == lone


def test_drawing_follows_the_probabilities():
    logits = torch.log(torch.tensor([0.5, 0.25, 0.125, 0.125]))
    rows = [row(Sampling(temperature=1.0), seed=seed) for seed in range(4000)]
    drawn = draw(logits.repeat(4000, 1), rows)
    counts = torch.bincount(torch.tensor([d.token_id for d in drawn if isinstance(d, Drawn)])) / 4000
    assert torch.allclose(counts, torch.tensor([0.5, 0.25, 0.125, 0.125]), atol=0.03)


def test_temperature_sharpens_and_flattens():
    logits = torch.tensor([[2.0, 1.0, 0.0]]).repeat(600, 1)
    share = {}
    for temperature in (1e-6, 0.3, 5.0):
        rows = [row(Sampling(temperature=temperature), seed=seed) for seed in range(600)]
        drawn = draw(logits.clone(), rows)
        share[temperature] = sum(isinstance(d, Drawn) and d.token_id == 0 for d in drawn) / 600
    assert share[1e-6] == 1.0
    assert share[0.3] > 0.9 > 0.6 > share[5.0]


def test_a_flat_distribution_is_looked_at_to_its_end():
    rows = [row(Sampling(temperature=1.0), seed=seed) for seed in range(300)]
    drawn = draw(torch.zeros(300, 4096), rows)
    ids = {d.token_id for d in drawn if isinstance(d, Drawn)}
    assert len(ids) > 250
    nucleus = [row(Sampling(temperature=1.0, top_p=0.5), seed=seed) for seed in range(300)]
    logits = torch.linspace(0, 1, 4096).repeat(300, 1)
    least = min(d.token_id for d in draw(logits, nucleus) if isinstance(d, Drawn))
    assert least > 1000, "the less likely half is cut off"


def test_log_probabilities_are_the_models_own():
    logits = [1.0, 2.0, 3.0, 0.0]
    own = torch.tensor(logits).log_softmax(0).tolist()
    drawn = one(logits, row(Sampling(logprobs=2, logit_bias={0: 50.0})))
    assert drawn.token_id == 0
    assert drawn.logprob == pytest.approx(own[0])
    assert [id for id, _ in drawn.top] == [2, 1]
    assert [logprob for _, logprob in drawn.top] == pytest.approx([own[2], own[1]])
    assert one(logits, row(Sampling(logprobs=0))).top == ()
    assert one(logits, row()).logprob is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_row_that_is_not_a_number_fails_alone(bad: float):
    logits = torch.randn(4, 512)
    expected = logits.argmax(1).tolist()
    logits[1, 7] = logits[2, 9] = bad
    drawn = draw(logits, [row(), row(), row(Sampling(temperature=1.0)), row()])
    assert isinstance(drawn[1], EngineFailed) and isinstance(drawn[2], EngineFailed)
    assert drawn[0] == Drawn(expected[0]) and drawn[3] == Drawn(expected[3])


def test_options_that_cannot_be_applied_fail_their_row_alone():
    drawn = draw(torch.zeros(2, 4), [row(Sampling(logit_bias={99: 1.0})), row()])
    assert isinstance(drawn[0], EngineFailed) and isinstance(drawn[1], Drawn)


def test_nothing_left_to_choose_from_fails():
    (drawn,) = draw(torch.zeros(1, 2), [row(banned=(0, 1))])
    assert isinstance(drawn, EngineFailed)


@pytest.mark.parametrize("sampling", [Sampling(temperature=1.5), Sampling(temperature=1.5, top_p=0.95)])
def test_where_the_likeliest_few_do_not_decide_it_is_drawn_from_all(sampling: Sampling):
    """Equal logits stand in the order of their ids, and a banned token is never drawn."""
    generator = torch.Generator().manual_seed(3)
    logits = (torch.randn(1, 2000, generator=generator) * 4).round() / 4
    weights = (logits[0].double() / 1.5).softmax(0).numpy()
    weights[7] = 0.0
    order = sorted(range(2000), key=lambda id: (-weights[id], id))
    late = 0
    for seed in range(200):
        (drawn,) = draw(logits.clone(), [row(sampling, seed=seed, banned=(7,))])
        rank = choose(weights[order] / weights.sum(), True, sampling, chance(seed, 1))
        assert isinstance(drawn, Drawn) and rank is not None
        if rank >= 64:
            late += 1
            assert weights[drawn.token_id] == weights[order[rank]] and drawn.token_id == order[rank]
    assert late > 100
