"""E3: somebody sets the wall clock: nothing that is measured or waited for may notice."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

from app.engine.scripted import ScriptedEngine
from tests.server import run_server
from tests.socket.clients import talk

APP = Path(__file__).parents[2] / "app"
#: Where a date is wanted and not a duration: a log line, `created` of OpenAI, a recording's day, the
#: age of a room over restarts, and what a chat template may print.
DATES = {
    "commands/measure.py",
    "commands/record.py",
    "engine/chat_template.py",
    "replay/recorder.py",
    "rooms/registry.py",
    "telemetry/journal.py",
    "transports/openai.py",
}


def wall_clocks(source: str) -> list[str]:
    """Uses of a clock that somebody can set: ``time.time`` and friends, and datetime."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            if name in ("time.time", "time.time_ns", "time.localtime", "time.gmtime", "time.ctime"):
                found.append(name)
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [getattr(node, "module", None), *(alias.name for alias in node.names)]
            if "datetime" in modules or getattr(node, "module", "") == "time" and "time" in modules[1:]:
                found.append("datetime" if "datetime" in modules else "time.time")
    return found


def test_only_dates_are_read_from_the_wall_clock():
    users = {
        str(path.relative_to(APP)) for path in sorted(APP.rglob("*.py")) if wall_clocks(path.read_text())
    }
    assert users == DATES


@pytest.mark.parametrize("hours", [1, -1])
async def test_an_hour_more_or_less_in_the_middle_of_a_reply_changes_no_number(monkeypatch, hours):
    engine = ScriptedEngine([(b"word ", 5.0)] * 20)
    real = time.time
    async with run_server(engine, stall_s=2.0, heartbeat_s=0.5) as s, talk(s.ws) as ws:
        await ws.start("a")
        events = await ws.hear_until("delta", seq=5)
        monkeypatch.setattr(time, "time", lambda: real() + hours * 3600)
        events += await ws.hear_until("done")
    stamps = [event["t"] for event in events]
    assert stamps == sorted(stamps)
    assert events[-1]["finish_reason"] == "stop" and events[-1]["usage"]["completion_tokens"] == 20
    assert 100 <= events[-1]["timings"]["total_ms"] < 60_000
