"""OpenAI's JSON becomes these Prompts."""

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import BadRequest, NotFound
from app.intake.openai import Asked, read_chat, read_text
from app.prompt import Message, Prompt, Sampling
from app.settings import Settings

SETTINGS = Settings(max_choices=3, max_prompt_chars=100)


def chat(**fields: Any) -> Asked:
    ids = count()
    body = {"model": "default", "messages": [{"role": "user", "content": "Hi"}], **fields}
    return read_chat(body, SETTINGS, "served", lambda: f"r{next(ids)}")


def text(**fields: Any) -> Asked:
    return read_text({"model": "served", "prompt": "Go on", **fields}, SETTINGS, "served", lambda: "r")


def test_a_bare_request_has_openais_defaults() -> None:
    hi = (Message("user", "Hi"),)
    assert chat() == Asked(
        (Prompt("r0", hi, sampling=Sampling(temperature=1.0), max_tokens=SETTINGS.default_output_tokens),),
        stream=False,
        include_usage=False,
        logprobs=False,
    )
    assert text().prompts == (Prompt("r", text="Go on", sampling=Sampling(temperature=1.0), max_tokens=16),)


def test_every_field_reaches_the_prompt() -> None:
    asked = chat(
        temperature=0.5,
        top_p=0.9,
        top_k=5,
        min_p=0.1,
        seed=7,
        repetition_penalty=1.1,
        presence_penalty=0.2,
        frequency_penalty=-0.2,
        logit_bias={"5": -100},
        logprobs=True,
        top_logprobs=3,
        max_tokens=50,
        max_completion_tokens=40,
        min_tokens=4,
        stop="END",
        ignore_eos=True,
        stream=True,
        stream_options={"include_usage": True},
    )
    sampling = Sampling(0.5, 0.9, 5, 0.1, 7, 1.1, 0.2, -0.2, {5: -100.0}, 3)
    assert asked.prompts == (
        Prompt(
            "r0",
            (Message("user", "Hi"),),
            sampling=sampling,
            max_tokens=40,
            min_tokens=4,
            stop=("END",),
            ignore_eos=True,
        ),
    )
    assert asked.stream and asked.include_usage and asked.logprobs


def test_the_developer_speaks_as_the_system_and_parts_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    asked = chat(messages=[{"role": "developer", "content": "D"}, {"role": "user", "content": parts}])
    assert asked.prompts[0].messages == (Message("system", "D"), Message("user", "ab"))


def test_n_answers_have_ids_and_seeds_of_their_own() -> None:
    prompts = chat(n=3, seed=7).prompts
    assert [(prompt.id, prompt.sampling.seed) for prompt in prompts] == [("r0", 7), ("r1", 8), ("r2", 9)]
    assert [prompt.sampling.seed for prompt in chat(n=2).prompts] == [None, None]


def test_a_begun_answer_is_gone_on_with_where_vllm_would_do_so() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well"}]
    assert chat(messages=messages, continue_final_message=True).prompts[0].continue_last
    assert not chat(messages=messages).prompts[0].continue_last


def test_logprobs_without_alternatives_are_not_the_same_as_none() -> None:
    assert chat(logprobs=True).prompts[0].sampling.logprobs == 0
    assert chat(logprobs=False).prompts[0].sampling.logprobs is None
    assert text(logprobs=0).logprobs


def test_minus_one_turns_top_k_off_as_in_vllm() -> None:
    assert chat(top_k=-1).prompts[0].sampling.top_k == 0


def test_a_prompt_may_be_a_list_of_one_string() -> None:
    assert text(prompt=["Go on"]).prompts == text().prompts


@pytest.mark.parametrize("stream_options", [None, {}, {"include_usage": False}])
def test_usage_in_the_stream_has_to_be_asked_for(stream_options: Any) -> None:
    assert not chat(stream=True, stream_options=stream_options).include_usage


def test_only_the_served_model_and_default_are_known() -> None:
    assert chat(model="served").prompts == chat(model="default").prompts
    with pytest.raises(NotFound, match="served"):
        chat(model="gpt-4o")
    with pytest.raises(BadRequest, match="model is missing"):
        chat(model=None)


def test_too_much_text_is_refused_before_anybody_tokenises_it() -> None:
    with pytest.raises(BadRequest, match="100"):
        chat(messages=[{"role": "user", "content": "x" * 101}])
    with pytest.raises(BadRequest, match="100"):
        text(prompt="x" * 101)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "messages",
        "prompt",
        "n",
        "stop",
        "seed",
        "logprobs",
        "top_logprobs",
        "logit_bias",
        "stream",
        "stream_options",
        "max_tokens",
        "top_k",
        "tools",
        "response_format",
        "modalities",
        "temperature",
        "echo",
        "best_of",
    ]
)


@given(st.dictionaries(FIELDS, json_values, max_size=4))
def test_any_json_is_understood_or_refused_with_a_name(fields: dict[str, Any]) -> None:
    for read in (chat, text):
        try:
            asked = read(**fields)
        except BadRequest as error:
            assert error.param
        else:
            assert 1 <= len(asked.prompts) <= 3
