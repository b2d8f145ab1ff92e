"""Which dialect a base speaks: found by asking real servers."""

from __future__ import annotations

from typing import Any

import pytest

from app.client.detection import base_of, is_firstword, settled
from app.client.dialects.dialect import Question
from app.client.target import WrongUrl, read_target
from app.engine.scripted import ScriptedEngine
from tests.broken_servers import catalogue, words
from tests.broken_servers.wire import Answer, Asked, Out, serving


async def without_models(asked: Asked, out: Out) -> None:
    """Chat completions and nothing that lists models."""
    if asked.path == "/v1/models":
        await out.whole({"error": {"message": "no"}}, 404)
    else:
        await catalogue.openai(catalogue.healthy)(asked, out)


async def nothing(asked: Asked, out: Out) -> None:
    await out.whole({"detail": "not found"}, 404)


@pytest.mark.parametrize(
    ("answer", "name", "model"),
    [
        (catalogue.openai(catalogue.healthy), "openai", "tiny"),
        (without_models, "openai", "default"),
        (catalogue.anthropic(), "anthropic", "default"),
        (catalogue.plain(), "plain", "default"),
    ],
)
async def test_a_base_is_recognised_by_what_it_answers(answer: Answer, name: str, model: str) -> None:
    async with serving(answer) as url:
        target, question = await settled(read_target(url), Question("Hi", model="default"))
    assert target.dialect is not None
    assert (target.dialect.name, question.model) == (name, model)
    assert target.path == target.dialect.path


async def test_a_firstword_is_recognised_and_asked_for_its_own_events(serve: Any) -> None:
    running = await serve(ScriptedEngine())
    target, _ = await settled(read_target(running.url), Question("Hi"))
    assert target.dialect is not None
    assert target.dialect.name == "ndjson"
    assert await is_firstword(target, Question("Hi"))
    assert base_of(target) == ""


async def test_a_server_that_speaks_nothing_known_is_refused() -> None:
    async with serving(nothing) as url:
        with pytest.raises(WrongUrl, match="--dialect"):
            await settled(read_target(url), Question("Hi"))


async def test_an_unknown_path_of_such_a_server_is_taken_for_plain_text() -> None:
    async with serving(nothing) as url:
        target, _ = await settled(read_target(f"{url}/say"), Question("Hi"))
    assert target.dialect is not None
    assert (target.dialect.name, target.path) == ("plain", "/say")


async def test_no_question_is_asked_that_would_generate() -> None:
    """Detection must not cost tokens: nothing with messages or a prompt is sent."""
    bodies: list[dict[str, Any]] = []

    async def watching(asked: Asked, out: Out) -> None:
        bodies.append(asked.body)
        await out.whole(words.REFUSAL, 404)

    async with serving(watching) as url:
        with pytest.raises(WrongUrl):
            await settled(read_target(url), Question("Hi"))
    assert len(bodies) >= 4
    assert not any("messages" in body or "prompt" in body for body in bodies)
