"""The engine's batch on the wall: who is being answered in a step, and nothing else."""

import json

from app.engine.scripted import ScriptedEngine
from app.generation import Phase, StepRecord
from app.rooms.steps import Steps


def test_what_is_read_for_turns_to_come_is_not_counted_as_somebodys_answer() -> None:
    told: list[str] = []
    steps = Steps(ScriptedEngine(), told.append, now_ns=lambda: 1_000_000_000)

    def heard(*phases: Phase) -> int:
        steps._told_ns = 0
        rows = [(f"reply-{number}", phase, 1) for number, phase in enumerate(phases)]
        steps._hear(StepRecord(0, 5_000_000, rows, 3, 64, 0, 0))
        batch = json.loads(told[-1])["batch"]
        assert isinstance(batch, int)
        return batch

    assert heard("prefill", "decode", "decode") == 3
    assert heard("ahead") == 0
