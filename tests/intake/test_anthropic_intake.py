"""Anthropic's JSON becomes this Prompt."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import BadRequest
from app.intake.anthropic import Asked, read_counted, read_message
from app.prompt import Message, Prompt, Sampling
from app.settings import Settings
from tests.intake.test_openai_intake import FIELDS, json_values

SETTINGS = Settings(max_prompt_chars=100)
HI = [{"role": "user", "content": "Hi"}]


def read(**fields: Any) -> Asked:
    body = {"model": "default", "max_tokens": 10, "messages": HI, **fields}
    return read_message(body, SETTINGS, "served", lambda: "r")


def test_a_bare_request_has_anthropics_defaults() -> None:
    expected = Prompt("r", (Message("user", "Hi"),), sampling=Sampling(temperature=1.0), max_tokens=10)
    assert read() == Asked(expected, stream=False)


def test_every_field_reaches_the_prompt() -> None:
    asked = read(
        system="Be brief", temperature=0.5, top_p=0.9, top_k=5, stop_sequences=["a", "b"], stream=True
    )
    assert asked == Asked(
        Prompt(
            "r",
            (Message("system", "Be brief"), Message("user", "Hi")),
            sampling=Sampling(temperature=0.5, top_p=0.9, top_k=5),
            max_tokens=10,
            stop=("a", "b"),
        ),
        stream=True,
    )


def test_a_last_message_of_the_assistant_begins_the_answer() -> None:
    begun = [*HI, {"role": "assistant", "content": [{"type": "text", "text": "Well"}]}]
    assert read(messages=begun).prompt.continue_last
    counted = read_counted({"model": "served", "messages": begun}, SETTINGS, "served")
    assert counted.continue_last and counted.messages == read(messages=begun).prompt.messages


def test_the_system_text_counts_towards_the_limit() -> None:
    with pytest.raises(BadRequest, match="100"):
        read(system="x" * 99)


@given(st.dictionaries(FIELDS | st.sampled_from(["system", "stop_sequences", "thinking"]), json_values))
def test_any_json_is_understood_or_refused_with_a_name(fields: dict[str, Any]) -> None:
    try:
        asked = read(**fields)
    except BadRequest as error:
        assert error.param
    else:
        assert asked.prompt.max_tokens >= 1
