"""The supervisor with real child processes that run tests/engine/fake_parts.py instead of torch."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.engine.child import Child
from app.engine.patience import Patience
from app.engine.supervisor import LocalEngine
from app.errors import BadRequest, EngineLoading, EngineLost, Overloaded, PromptTooLong, ServerShutdown
from app.generation import Begun, Ended, EngineStatus, Failed, Output, Piece, StepRecord, Waiting
from app.prompt import Prompt
from app.settings import Settings

FACTORY = "tests.engine.fake_parts:make"
HURRIED = Patience(back_off_s=0.05, back_off_max_s=0.2, tick_s=0.05, exit_s=1.0)


@asynccontextmanager
async def running(
    model: str = "", patience: Patience = HURRIED, ready: bool = True
) -> AsyncIterator[LocalEngine]:
    engine = LocalEngine(Settings(model=model), factory=FACTORY, patience=patience)
    await engine.start()
    try:
        if ready:
            async with asyncio.timeout(30):
                await engine.settled.wait()
            assert engine.status == EngineStatus("ready")
        yield engine
    finally:
        await engine.stop()
        assert engine.pid is None


async def until(fact: Callable[[], object], limit_s: float = 30) -> None:
    """Come back when ``fact`` has become true; the engine has no bell for every change."""
    async with asyncio.timeout(limit_s):
        while not fact():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Reader:
    """A sink that keeps what it is told."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []

    def __call__(self, output: Output) -> None:
        self.outputs.append(output)

    @property
    def last(self) -> Output | None:
        return self.outputs[-1] if self.outputs else None

    @property
    def over(self) -> bool:
        return isinstance(self.last, Ended | Failed)

    @property
    def text(self) -> str:
        return "".join(output.text for output in self.outputs if isinstance(output, Piece))


def send(engine: LocalEngine, id: str, text: str = "hello", max_tokens: int = 90) -> Reader:
    reader = Reader()
    engine.submit(Prompt(id, text=text, max_tokens=max_tokens), reader)
    return reader


async def test_a_prompt_goes_in_and_its_outputs_come_back_in_order():
    async with running() as engine:
        assert engine.model.name == "fake" and engine.model.context_tokens == 100
        reader = send(engine, "a", max_tokens=3)
        await until(lambda: reader.over)
        kinds = [type(output) for output in reader.outputs]
        assert kinds == [Waiting, Begun, Piece, Piece, Piece, Ended] and reader.text == "0 1 2 "


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a thread be kept off a processor")
@pytest.mark.parametrize("gone", ["stopped", "killed"])
async def test_who_reads_is_kept_off_the_engine_s_processor_for_as_long_as_there_is_one(gone: str) -> None:
    mine = os.sched_getaffinity(0)
    async with running() as engine:
        assert os.sched_getaffinity(0) == mine, "it has told nothing yet"
        reader = send(engine, "a", max_tokens=3)
        await until(lambda: reader.over)
        rest = os.sched_getaffinity(0)
        assert rest <= mine and len(rest) == max(len(mine) - 1, 1)
        if gone == "killed":
            first = engine.pid
            assert first is not None
            os.kill(first, signal.SIGKILL)
            await until(lambda: engine.status == EngineStatus("ready") and engine.pid not in (None, first))
            assert os.sched_getaffinity(0) == os.sched_getaffinity(engine.pid or 0) == mine
    assert os.sched_getaffinity(0) == mine


async def test_it_works_on_uvloop_s_event_loop_too():
    uvloop = pytest.importorskip("uvloop")

    async def talk() -> str:
        async with running() as engine:
            reader = send(engine, "a", max_tokens=3)
            await until(lambda: reader.over)
            return reader.text

    def on_uvloop() -> str:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(talk())

    assert await asyncio.to_thread(on_uvloop) == "0 1 2 "


async def test_while_loading_progress_is_shown_and_prompts_are_refused():
    async with running("endless", ready=False) as engine:
        assert engine.status.state == "loading"
        await until(lambda: engine.status == EngineStatus("loading", "reading the fake", 0.5))
        with pytest.raises(EngineLoading):
            send(engine, "a")
        with pytest.raises(EngineLoading):
            await engine.count_tokens(Prompt("a", text="one"))
        assert not engine.settled.is_set()


@pytest.mark.parametrize(
    "model, line",
    [
        ("unknown", "there is no model called 'unknown'"),
        ("broken", "the model cannot be loaded: ValueError: the header is all wrong"),
    ],
)
async def test_a_model_that_cannot_be_loaded_is_told_in_one_line_and_not_tried_again(model: str, line: str):
    async with running(model, ready=False) as engine:
        await engine.settled.wait()
        assert engine.failure == line and engine.status == EngineStatus("failed", line)
        assert engine._task is not None
        await engine._task  # nobody is left to start another
        assert engine.pid is None
        with pytest.raises(EngineLost, match=line):
            send(engine, "a")
        assert engine.status.state == "failed"


async def test_a_child_that_always_dies_while_loading_is_given_up():
    async with running("deadly", ready=False) as engine:
        await engine.settled.wait()
        assert engine.failure == "the engine died 3 times while loading (signal 9)"


async def test_kill_9_in_mid_reply_ends_the_replies_and_the_next_prompt_works():
    async with running() as engine:
        first, second = send(engine, "a"), send(engine, "b")
        await until(lambda: first.text and second.text)
        pid = engine.pid
        assert pid is not None
        question = asyncio.create_task(engine.count_tokens(Prompt("q", text="endless")))
        await asyncio.sleep(0)  # the question is asked
        os.kill(pid, signal.SIGKILL)
        await until(lambda: first.over and second.over)
        for reader in (first, second):
            assert isinstance(reader.last, Failed) and reader.last.code == "engine_lost"
            assert "it is being restarted" in reader.last.message and reader.text
        assert engine.status.state == "restarting"
        with pytest.raises(EngineLost):
            send(engine, "c")
        with pytest.raises(EngineLost):
            await question

        await until(lambda: engine.status.state == "ready")
        assert engine.pid not in (None, pid)
        third = send(engine, "a", max_tokens=2)
        await until(lambda: third.over)
        assert third.text == "0 1 " and isinstance(third.last, Ended)


async def test_a_loop_that_raises_ends_the_process_and_it_comes_back():
    async with running() as engine:
        reader = send(engine, "a", "raise")
        await until(lambda: reader.over)
        assert isinstance(reader.last, Failed) and reader.last.code == "engine_lost"
        await until(lambda: engine.status.state == "ready")


@pytest.mark.parametrize("how", ["hangs in a step", "is frozen"])
async def test_an_engine_that_hangs_is_killed_and_started_again(how: str):
    # Beats come every second, so that is the shortest silence that means anything.
    patience = Patience(back_off_s=0.05, hang_s=2.5, stall_s=0.5, tick_s=0.05, exit_s=1)
    async with running(patience=patience) as engine:
        pid = engine.pid
        assert pid is not None
        reader = send(engine, "a", "hang" if how == "hangs in a step" else "hello")
        if how == "is frozen":
            await until(lambda: reader.text)
            os.kill(pid, signal.SIGSTOP)
        else:
            await until(lambda: engine.status.stalled_s is not None)
            assert engine.status.state == "ready"
        await until(lambda: reader.over)
        assert isinstance(reader.last, Failed) and reader.last.code == "engine_lost"
        await until(lambda: engine.status.state == "ready")
        assert not alive(pid)


async def test_cancel_and_grant_reach_the_engine():
    async with running() as engine:
        cancelled, granted = send(engine, "a"), send(engine, "b")
        await until(lambda: cancelled.text and granted.text)
        engine.cancel("a")
        engine.grant("b", 40)
        engine.cancel("nobody")
        await until(lambda: cancelled.over and granted.over)
        assert isinstance(cancelled.last, Ended) and cancelled.last.finish_reason == "cancelled"
        assert isinstance(granted.last, Ended) and granted.last.completion_tokens >= 40


async def test_tokens_are_counted_and_refusals_are_told():
    async with running() as engine:
        assert await engine.count_tokens(Prompt("", text="one two three")) == 3
        with pytest.raises(BadRequest, match="empty"):
            await engine.count_tokens(Prompt("", text=" "))
        counts = await asyncio.gather(*(engine.count_tokens(Prompt("", text="w " * n)) for n in range(1, 50)))
        assert counts == list(range(1, 50))


async def test_a_prompt_over_the_context_is_refused_with_both_numbers():
    async with running() as engine:
        reader = send(engine, "a", "w " * 100)
        await until(lambda: reader.over)
        [failed] = reader.outputs
        assert isinstance(failed, Failed) and failed.code == "prompt_too_long"
        assert failed.message.count("100") == 2
        with pytest.raises(PromptTooLong):
            send(engine, "b", "x" * 9_000_000)
        short = send(engine, "b", "fine", 1)
        await until(lambda: short.over)
        assert isinstance(short.last, Ended)


async def test_an_id_cannot_run_twice_at_once():
    async with running() as engine:
        send(engine, "a")
        with pytest.raises(BadRequest, match="already running"):
            send(engine, "a")


async def test_a_sink_that_raises_is_cut_off_and_its_neighbours_go_on():
    async with running() as engine:
        told: list[Output] = []

        def broken(output: Output) -> None:
            told.append(output)
            if isinstance(output, Piece):
                raise RuntimeError("reader's mistake")

        engine.submit(Prompt("a", text="hello", max_tokens=90), broken)
        neighbour = send(engine, "b", max_tokens=20)
        await until(lambda: neighbour.over)
        assert isinstance(neighbour.last, Ended) and len(told) == 3


async def test_steps_are_told_while_somebody_watches_and_after_a_restart_too():
    async with running() as engine:
        seen: list[StepRecord] = []
        end = engine.watch_steps(seen.append)
        send(engine, "a")
        await until(lambda: seen)
        assert seen[0].rows == [("a", "decode", 1)]

        pid = engine.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await until(lambda: engine.pid not in (None, pid) and engine.status.state == "ready")
        seen.clear()
        reader = send(engine, "b")
        await until(lambda: seen)
        end()
        end()  # twice is no mistake
        await until(lambda: reader.over)
        many = len(seen)
        last = send(engine, "c", max_tokens=10)
        await until(lambda: last.over)
        assert len(seen) == many


async def test_prompts_are_refused_while_the_child_does_not_read():
    async with running() as engine:
        pid = engine.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(Overloaded):
            for number in range(20):
                send(engine, f"{number}", "word " * 100_000)
        os.kill(pid, signal.SIGCONT)


async def test_stopping_ends_the_replies_and_the_child():
    async with running() as engine:
        reader = send(engine, "a")
        await until(lambda: reader.text)
        pid = engine.pid
        assert pid is not None
        await engine.stop()
        assert isinstance(reader.last, Failed) and reader.last.code == "server_shutdown"
        assert not alive(pid) and engine.status.state == "stopped"
        with pytest.raises(ServerShutdown):
            send(engine, "b")


@pytest.mark.parametrize("model", ["", "endless"])
async def test_stopping_does_not_wait_for_a_hanging_step_or_an_endless_load(model: str):
    async with running(model, ready=model == "") as engine:
        if model == "":
            send(engine, "a", "hang")
            await until(lambda: engine.pid is not None)
        began_s = time.monotonic()
        await engine.stop()
        assert time.monotonic() - began_s < 5


async def test_stopping_while_the_child_is_launched_leaves_none(monkeypatch: pytest.MonkeyPatch):
    launched: list[Child] = []
    launch = Child.launch

    async def recorded(*told: Any) -> Child:
        launched.append(await launch(*told))
        return launched[-1]

    monkeypatch.setattr(Child, "launch", recorded)
    engine = LocalEngine(Settings(), factory=FACTORY, patience=HURRIED)
    await engine.start()
    await asyncio.sleep(0)  # the launch has begun
    await engine.stop()
    [child] = launched
    assert not alive(child.pid) and engine.pid is None


async def test_ctrl_c_in_the_terminal_does_not_reach_the_child():
    async with running() as engine:
        reader = send(engine, "a", max_tokens=60)
        await until(lambda: reader.text)
        pid = engine.pid
        assert pid is not None
        os.kill(pid, signal.SIGINT)
        await until(lambda: reader.over)
        assert isinstance(reader.last, Ended) and engine.pid == pid


PARENT = f"""
import asyncio
from app.engine.supervisor import LocalEngine
from app.settings import Settings

async def main():
    engine = LocalEngine(Settings(model=MODEL), factory={FACTORY!r})
    await engine.start()
    while not engine.status.progress and engine.status.state != "ready":
        await asyncio.sleep(0.01)
    print(engine.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("model", ["", "endless"])
def test_a_child_whose_parent_is_killed_exits_too(model: str):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.replace("MODEL", repr(model))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert alive(pid)
    parent.kill()
    # The child holds the other end of stderr: it is read to its end only when both are gone.
    _, errors = parent.communicate(timeout=10)
    assert errors == ""
