"""Sampling is read the same for every dialect; only defaults and the ceiling are the dialect's own."""

import pytest

from app.errors import BadRequest
from app.intake.fields import Fields
from app.intake.sampling import MAX_SEED, read_sampling
from app.prompt import Sampling


def test_nothing_asked_for_is_the_dialect_s_default():
    assert read_sampling(Fields({})) == Sampling(temperature=1.0)
    assert read_sampling(Fields({}), temperature=0.2, top_p=0.9) == Sampling(temperature=0.2, top_p=0.9)


def test_everything_is_read():
    asked = {
        "temperature": 2, "top_p": 0.4, "top_k": 3, "min_p": 0.1, "seed": MAX_SEED,
        "repetition_penalty": 1.1, "presence_penalty": -2, "frequency_penalty": 2, "logit_bias": {"7": -100},
    }  # fmt: skip
    assert read_sampling(Fields(asked), logprobs=2) == Sampling(
        2.0, 0.4, 3, 0.1, MAX_SEED, 1.1, -2.0, 2.0, {7: -100.0}, 2
    )


def test_minus_one_and_zero_both_turn_top_k_off():
    assert [read_sampling(Fields({"top_k": k})).top_k for k in (-1, 0)] == [0, 0]


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"temperature": 1.1}, "temperature"),
        ({"seed": MAX_SEED + 1}, "seed"),
        ({"logit_bias": {"x": 1}}, "logit_bias"),
        ({"logit_bias": {"²": 1}}, "logit_bias"),
        ({"logit_bias": {str(2**31): 1}}, "logit_bias"),
        ({"logit_bias": {"1": 101}}, "logit_bias.1"),
        ({"logit_bias": {str(n): 1 for n in range(301)}}, "logit_bias"),
    ],
)
def test_what_is_out_of_its_limits_is_refused_by_name(asked, param):
    with pytest.raises(BadRequest) as failure:
        read_sampling(Fields(asked), max_temperature=1.0)
    assert failure.value.param == param
