"""A reader's first delta says when its pace let it go, where that is later than it was made."""

from __future__ import annotations

import asyncio

import pytest

from app.engine.scripted import ScriptedEngine
from app.events import Delta
from app.prompt import Message, Prompt
from app.reply.log import Delivery, Reply
from app.reply.pace import Pace


async def read(pace: Pace) -> list[Delta]:
    engine = ScriptedEngine([(b"One", 5.0), (b" two", 30.0), (b" three", 5.0)])
    await engine.start()
    prompt = Prompt(id="r", messages=(Message("user", "x"),))
    clock = asyncio.get_running_loop()
    reply = Reply(prompt, engine, Delivery(), lambda: int(clock.time() * 1e9))
    reader = reply.attach(pace)
    reply.submit()
    return [event async for event in reader if isinstance(event, Delta)]


async def test_a_word_is_let_go_when_the_next_token_begins() -> None:
    first, second, _ = await read("word")
    assert first.text == "One"
    assert first.released is not None and first.released == second.t
    assert second.released is None


@pytest.mark.parametrize("pace", ["token", "sentence", "whole"])
async def test_what_is_let_go_when_it_is_made_says_nothing_more(pace: Pace) -> None:
    deltas = await read(pace)
    assert all(delta.released is None or delta.released > delta.t for delta in deltas)
    assert pace != "token" or [delta.released for delta in deltas] == [None, None, None]
