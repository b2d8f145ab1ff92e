import pytest

from app.engine.refusals import refuse_unready, too_long
from app.errors import EngineLoading, EngineLost, ServerShutdown
from app.generation import EngineStatus
from app.prompt import Message, Prompt


def test_a_ready_engine_refuses_nobody():
    refuse_unready(EngineStatus("ready"))


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        ("loading", EngineLoading, "still loading"),
        ("restarting", EngineLost, "being restarted"),
        ("failed", EngineLost, "for good: the disk is gone"),
        ("stopped", ServerShutdown, "shutting down"),
    ],
)
def test_every_other_state_has_its_error_and_its_words(state, error, words):
    with pytest.raises(error, match=words):
        refuse_unready(EngineStatus(state, "the disk is gone"))


def test_a_prompt_that_is_too_long_names_its_field_and_both_numbers():
    chat = too_long(Prompt("x", messages=(Message("user", "hello"),)), 70, 64)
    plain = too_long(Prompt("x", text="hello"), 70, 64)
    assert (chat.param, plain.param) == ("messages", "prompt")
    assert "70 tokens" in chat.message and "holds 64" in chat.message
