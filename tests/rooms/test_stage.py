"""A stage that is over lets nobody in: whoever was on their way is told that the room is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.engine.scripted import ScriptedEngine
from app.errors import NotFound
from app.reply.registry import Replies
from app.rooms.commands import DeleteRoom
from app.rooms.permission import HOST, WALL, Actor
from app.rooms.registry import Rooms
from app.rooms.stage import Stage
from app.settings import Settings


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    settings, engine = Settings(port=0), ScriptedEngine()
    rooms = Rooms(Replies(engine, settings), engine, settings)
    yield rooms.open("")[0]
    await rooms.stop()


async def test_nobody_joins_or_comes_back_to_a_room_that_is_gone(stage: Stage) -> None:
    number, secret = stage.admit(None)
    stage.apply(DeleteRoom(), HOST)
    for key in (None, secret):
        with pytest.raises(NotFound, match="is gone"):
            stage.admit(key)
    for actor in (HOST, WALL, Actor("participant", number)):
        with pytest.raises(NotFound, match="is gone"):
            stage.enter(actor)
