from __future__ import annotations

import queue

import pytest

from app.engine.commands import Add, Cancel, Command, Grant
from app.engine.door import Door
from app.engine.messages import Counted, Outputs, Report
from app.generation import Failed
from app.prompt import Message, Prompt
from tests.engine.fake_parts import WordTokenizer


class Rig:
    """A door without its thread: ``serve_all`` does what the thread would."""

    def __init__(self, context_tokens: int = 10) -> None:
        self.commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self.told: list[Report] = []
        self.door = Door(WordTokenizer(), context_tokens, self.commands, self.told.append, clock=lambda: 7)

    def serve_all(self) -> list[Command]:
        while not self.door._waiting.empty():
            self.door.serve(self.door._waiting.get())
        return [self.commands.get() for _ in range(self.commands.qsize())]

    @property
    def failed(self) -> Failed:
        [outputs] = self.told
        assert isinstance(outputs, Outputs)
        [failed] = outputs.outputs
        assert isinstance(failed, Failed)
        return failed


def chat(id: str, content: str, role: str = "user", **more) -> Prompt:
    return Prompt(id, messages=(Message(role, content),), **more)  # type: ignore[arg-type]


def test_a_prompt_becomes_token_ids():
    rig, prompt = Rig(), chat("a", "one three", max_tokens=5)
    rig.door.submit(prompt)
    assert rig.serve_all() == [Add(prompt, [3, 5])] and rig.told == []


@pytest.mark.parametrize("words, limit, room", [(9, 100, 1), (4, 100, 6), (4, 6, 6), (4, 3, 3)])
def test_the_answer_gets_what_room_the_context_has(words: int, limit: int, room: int):
    rig = Rig(context_tokens=10)
    rig.door.submit(chat("a", "w " * words, max_tokens=limit))
    [add] = rig.serve_all()
    assert isinstance(add, Add) and add.prompt.max_tokens == room


@pytest.mark.parametrize("prompt", [chat("a", "w " * 10), Prompt("a", text="w " * 10)])
def test_a_prompt_that_leaves_no_room_is_refused_with_both_numbers(prompt: Prompt):
    rig = Rig(context_tokens=10)
    rig.door.submit(prompt)
    assert rig.serve_all() == []
    assert (rig.failed.id, rig.failed.code, rig.failed.at_ns) == ("a", "prompt_too_long", 7)
    assert "has 10 tokens" in rig.failed.message and "holds 10" in rig.failed.message
    assert rig.failed.param == ("messages" if prompt.messages else "prompt")


@pytest.mark.parametrize(
    "prompt, why",
    [
        (chat("a", "x", "system"), "no system messages"),
        (chat("a", " "), "The prompt is empty"),
        (chat("a", "x", "assistant"), "the template takes no such turn"),
    ],
)
def test_a_prompt_that_the_template_refuses_fails_alone(prompt: Prompt, why: str):
    rig = Rig()
    rig.door.submit(prompt)
    rig.door.submit(chat("b", "fine"))
    assert [add.prompt.id for add in rig.serve_all() if isinstance(add, Add)] == ["b"]
    assert rig.failed.code == "invalid_request" and why in rig.failed.message
    assert rig.failed.param == "messages"


def test_a_refusal_says_once_and_of_the_right_part_what_is_wrong():
    refusals = []
    for prompt in (chat("a", "x", "assistant"), chat("a", "x", "system"), Prompt("a", text="\ud800")):
        rig = Rig()
        rig.door.submit(prompt)
        rig.serve_all()
        refusals.append((rig.failed.message, rig.failed.param))
    (told, _), (raised, _), (of_text, field) = refusals
    assert told == "the template takes no such turn"
    assert raised == "The model's chat template or tokenizer cannot read the messages: no system messages"
    assert of_text.startswith("The model's tokenizer cannot read the prompt: ") and field == "prompt"


def test_no_log_line_says_whose_prompt_could_not_be_read_or_what_it_said(caplog):
    rig = Rig()
    rig.door.submit(chat("the-key-of-a-reply", "x", "system"))
    rig.serve_all()
    assert "raised ValueError" in caplog.text
    assert "the-key-of-a-reply" not in caplog.text and "no system messages" not in caplog.text


def test_what_is_said_about_a_prompt_follows_it_and_overtakes_the_prompts_of_others():
    rig = Rig()
    rig.door.submit(chat("a", "first"))
    rig.door.pass_on(Grant("a", 64))
    rig.door.pass_on(Cancel("running"))
    rig.door.pass_on(Cancel("a"))
    assert rig.commands.get_nowait() == Cancel("running")
    assert [type(command) for command in rig.serve_all()] == [Add, Grant, Cancel]
    rig.door.pass_on(Grant("a", 65))
    assert rig.commands.get_nowait() == Grant("a", 65)


def test_nothing_is_kept_of_a_prompt_that_was_refused():
    rig = Rig()
    rig.door.submit(chat("a", "w " * 10))
    rig.door.pass_on(Grant("a", 1))
    assert rig.serve_all() == [] and rig.door._late == {}


def test_questions_are_answered_by_number():
    rig = Rig()
    rig.door.count(3, chat("", "one two three"))
    rig.door.count(4, chat("", "x", "system"))
    rig.serve_all()
    first, second = rig.told
    assert first == Counted(3, 3)
    assert isinstance(second, Counted) and second.tokens is None and second.code == "invalid_request"
