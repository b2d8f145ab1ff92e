"""`firstword doctor` as people and programs run it; what it finds is tested in tests/client/doctor."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.broken_servers import catalogue
from tests.broken_servers.wire import Answer, serving
from tests.broken_servers.words import SENTENCE, frames
from tests.server import Running


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["doctor", *args, "--max-tokens", "60"])


@contextmanager
def broken(answer: Answer) -> Iterator[str]:
    """A broken server in a thread: the command has an event loop of its own."""
    box: list[str] = []
    started, loop = threading.Event(), asyncio.new_event_loop()
    ended = asyncio.Event()

    async def main() -> None:
        async with serving(answer) as url:
            box.append(url)
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),))
    thread.start()
    started.wait(10)
    try:
        yield box[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()


@pytest.fixture
def url(server: Callable[..., Running]) -> str:
    return server(ScriptedEngine(spoken(SENTENCE * 5, 8))).url


def test_a_healthy_server_is_exit_code_0_and_said_to_stream(url: str) -> None:
    result = run(url)
    assert result.exit_code == 0, result.output
    assert "It streams." in result.output
    assert "No findings." in result.output


def test_json_has_the_agreed_shape_and_notes_go_to_stderr(url: str) -> None:
    result = run(url, "--dialect", "plain", "--json")
    assert json.loads(result.stdout) == {"streams": True, "findings": []}
    assert "A disconnect stops the generation" in result.stderr


def test_findings_are_exit_code_1_with_severity_numbers_and_fix() -> None:
    with broken(catalogue.openai(catalogue.missing_done)) as url:
        shown, told = run(url), run(url, "--json")
    assert (shown.exit_code, told.exit_code) == (1, 1)
    (finding,) = json.loads(told.stdout)["findings"]
    assert list(finding) == ["code", "severity", "what", "fix"]
    assert (finding["code"], finding["severity"]) == ("missing-done", "error")
    assert "missing-done" in shown.output
    assert "Fix:" in shown.output


def test_a_server_that_refuses_to_answer_is_exit_code_1(server: Callable[..., Running]) -> None:
    url = server(ScriptedEngine(), api_key="secret").url
    result = run(url, "--dialect", "openai")
    assert result.exit_code == 1
    assert "HTTP 401" in result.stderr


def test_wrong_usage_is_exit_code_2_and_nobody_there_3() -> None:
    assert run("gopher://h").exit_code == 2
    assert run("http://127.0.0.1:1").exit_code == 3


def test_what_a_server_says_cannot_command_the_terminal() -> None:
    async def stream(asked: Any, out: Any) -> None:
        await out.head("text/x-\x1b[31mred[bold]")
        async for frame in frames(asked.max_tokens):
            await out.write(frame)
        await out.end()

    with broken(catalogue.openai(stream)) as url:
        result = run(url)
    assert "\x1b" not in result.output
