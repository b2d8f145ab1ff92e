from typing import Any

import pytest

from app.errors import BadRequest
from app.intake.fields import Fields
from app.intake.prompt import PROMPT_FIELDS, read_prompt, read_question
from app.prompt import Message, Sampling
from app.settings import Settings

SETTINGS = Settings(max_messages=3, max_prompt_chars=20, max_output_tokens=50, max_stop_strings=2)
HELLO = [{"role": "user", "content": "hello"}]


def read(**fields: Any):
    return read_prompt(Fields({"messages": HELLO, **fields}), SETTINGS, "r")


def test_defaults_come_from_the_settings():
    prompt = read()
    assert prompt.messages == (Message("user", "hello"),)
    assert prompt.max_tokens == 50
    assert prompt.sampling == Sampling(temperature=SETTINGS.default_temperature, top_p=SETTINGS.default_top_p)
    assert not prompt.ignore_eos and prompt.stop == () and prompt.tokens_per_second is None


def test_every_field_arrives():
    prompt = read(
        max_tokens=7, min_tokens=2, temperature=0.5, top_p=0.4, top_k=3, min_p=0.1, seed=9,
        repetition_penalty=1.1, presence_penalty=0.2, frequency_penalty=-0.3, logit_bias={"5": -100},
        logprobs=4, stop=["x", "y"], ignore_eos=True, tokens_per_second=3,
    )  # fmt: skip
    assert prompt.sampling == Sampling(0.5, 0.4, 3, 0.1, 9, 1.1, 0.2, -0.3, {5: -100.0}, 4)
    assert (prompt.max_tokens, prompt.min_tokens, prompt.stop) == (7, 2, ("x", "y"))
    assert prompt.ignore_eos and prompt.tokens_per_second == 3.0


BAD: list[tuple[str, Any, str]] = [
    ("messages", [], "messages"),
    ("messages", "hello", "messages"),
    ("messages", None, "messages"),
    ("messages", HELLO * 4, "messages"),
    ("messages", [{"role": "user", "content": "x" * 21}], "messages"),
    ("messages", [{"role": "user", "content": ""}], "messages[0].content"),
    ("messages", [{"role": "user", "content": " \n"}], "messages[0].content"),
    ("messages", [{"role": "user"}], "messages[0].content"),
    ("messages", [{"content": "x"}], "messages[0].role"),
    ("messages", [{"role": "king", "content": "x"}], "messages[0].role"),
    ("messages", [{"role": "user", "content": 5}], "messages[0].content"),
    ("messages", [{"role": "user", "content": "\ud800"}], "messages[0].content"),
    ("messages", [{"role": "user", "content": "x", "name": "y"}], "messages[0].name"),
    ("messages", [5], "messages[0]"),
    ("max_tokens", 0, "max_tokens"),
    ("max_tokens", 51, "max_tokens"),
    ("max_tokens", True, "max_tokens"),
    ("min_tokens", 51, "min_tokens"),
    ("temperature", float("nan"), "temperature"),
    ("temperature", -0.1, "temperature"),
    ("temperature", 2.1, "temperature"),
    ("top_p", float("inf"), "top_p"),
    ("top_k", -2, "top_k"),
    ("min_p", 2, "min_p"),
    ("seed", -1, "seed"),
    ("seed", 2**63, "seed"),
    ("repetition_penalty", 0, "repetition_penalty"),
    ("presence_penalty", 3, "presence_penalty"),
    ("frequency_penalty", "1", "frequency_penalty"),
    ("logit_bias", [], "logit_bias"),
    ("logit_bias", {"x": 1}, "logit_bias"),
    ("logit_bias", {"1": 101}, "logit_bias.1"),
    ("logit_bias", {str(i): 1 for i in range(301)}, "logit_bias"),
    ("logprobs", 21, "logprobs"),
    ("stop", ["a", "b", "c"], "stop"),
    ("stop", ["x" * 201], "stop"),
    ("ignore_eos", 1, "ignore_eos"),
    ("tokens_per_second", 0, "tokens_per_second"),
    ("continue_last", True, "continue_last"),
]


@pytest.mark.parametrize(("name", "value", "param"), BAD)
def test_bad_values_are_refused_by_name(name, value, param):
    with pytest.raises(BadRequest) as caught:
        read(**{name: value})
    assert caught.value.param == param
    assert param.split(".")[-1] in caught.value.message


def test_a_conversation_may_be_gone_on_with():
    messages = [*HELLO, {"role": "assistant", "content": "Hi, I"}]
    assert read(messages=messages, continue_last=True).continue_last


def test_the_lesson_asks_one_question():
    prompt = read_question(Fields({"prompt": "hi", "max_tokens": 3, "seed": 1}), SETTINGS, "r")
    assert prompt.messages == (Message("user", "hi"),)
    assert (prompt.max_tokens, prompt.sampling.seed) == (3, 1)
    for bad in ({}, {"prompt": ""}, {"prompt": "x" * 21}, {"prompt": 5}):
        with pytest.raises(BadRequest) as caught:
            read_question(Fields(bad), SETTINGS, "r")
        assert caught.value.param == "prompt"


def test_the_names_of_all_fields_are_known_to_who_has_to_refuse_them():
    fields = Fields({"messages": HELLO})
    read_prompt(fields, SETTINGS, "r")
    with pytest.raises(BadRequest) as error:
        Fields({**dict.fromkeys(PROMPT_FIELDS), "other": 1}).refuse_others()
    assert error.value.param == "messages"
    assert sorted(fields._read) == sorted(PROMPT_FIELDS)
