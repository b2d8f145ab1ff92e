"""The scenes, played over a real server whose engine says one word every few milliseconds."""

import pytest

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from bench.delivery import delivery
from bench.load import Load
from bench.peers import Peer
from bench.scenes import SCENES, second_turn
from bench.servers import Running

STEP_MS = 4.0


def on(port: int, own_wire: bool = True) -> Load:
    peer = Peer(
        "firstword (scripted)", "ignore_eos", "default", "/readyz", lambda port: [], own_wire=own_wire
    )
    return Load(Running(peer, port, pid=0, spawned_ns=0), tokens=16, limit_s=30.0, asleep_s=0.7, pairs=2)


@pytest.mark.parametrize("play", SCENES, ids=lambda play: play.__name__)
async def test_each_scene_gives_a_number_with_its_formula(serve, play):
    running = await serve(ScriptedEngine(spoken("one two three four five", STEP_MS)))
    scene = await play(on(running.port))
    assert scene.value is not None, scene.note
    assert scene.value > 0 and scene.name and scene.formula and scene.unit


async def test_delivery_says_why_it_cannot_be_played_elsewhere(serve):
    running = await serve()
    scene = await delivery(on(running.port, own_wire=False))
    assert scene.value is None and "token" in scene.note


async def test_a_scene_in_which_every_answer_fails_says_so(serve):
    running = await serve(ScriptedEngine(spoken("one two", STEP_MS), fail_at=0))
    scene = await second_turn(on(running.port))
    assert scene.value is None and scene.note
