"""The upstream engine as a whole: many at a time, is the server there, counting."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from app.errors import BadRequest, EngineLoading, EngineLost, FirstwordError, Overloaded, ServerShutdown
from app.generation import Ended, Failed, Piece
from app.prompt import Prompt
from app.upstream.address import Patience
from app.upstream.engine import UpstreamEngine
from tests.upstream.misbehaving_server import (
    DONE,
    HEAD_SSE,
    MisbehavingServer,
    Request,
    frame,
    misbehaving_server,
)
from tests.upstream.upstream_harness import Listener, prompt, running, scripted, settings

# Many at a time


async def test_stopping_fails_all_in_flight_and_refuses_what_comes_after() -> None:
    async def handler(request: Request) -> None:
        await request.send(HEAD_SSE, frame("some"))
        await request.gone()

    async with misbehaving_server(handler) as server, running(server, Patience()) as engine:
        listeners = [Listener(), Listener()]
        for number, listener in enumerate(listeners):
            engine.submit(prompt(str(number)), listener)
        await listeners[0].first(Piece)
        await engine.stop()
        assert [(await listener.end()).code for listener in listeners] == ["server_shutdown"] * 2
        assert engine.status.state == "stopped"
        with pytest.raises(ServerShutdown):
            engine.submit(prompt("late"), Listener())


async def test_an_id_that_runs_and_one_too_many_are_refused() -> None:
    async def handler(request: Request) -> None:
        await request.gone()

    async with misbehaving_server(handler) as server, running(server, Patience(), max_replies=1) as engine:
        engine.submit(prompt("a"), Listener())
        with pytest.raises(BadRequest, match="already running"):
            engine.submit(prompt("a"), Listener())
        with pytest.raises(Overloaded):
            engine.submit(prompt("b"), Listener())


async def test_one_failing_generation_leaves_the_others_alone() -> None:
    both = asyncio.Barrier(2)

    async def handler(request: Request) -> None:
        bad = request.body["max_tokens"] == 1
        await request.send(HEAD_SSE, frame("x"))
        await both.wait()
        await request.send(b"data: {\n\n" if bad else frame("y") + frame(finish="stop") + DONE)

    async with misbehaving_server(handler) as server, running(server) as engine:
        good, bad = Listener(), Listener()
        engine.submit(prompt("good"), good)
        engine.submit(prompt("bad", max_tokens=1), bad)
        assert isinstance(await bad.end(), Failed)
        assert isinstance(await good.end(), Ended) and good.text == "xy"


# Is it there?


async def until(engine: UpstreamEngine, state: str) -> None:
    async with asyncio.timeout(5):
        while engine.status.state != state:  # noqa: ASYNC110  (the status is looked at, it has no event)
            await asyncio.sleep(0.01)


async def test_the_first_listed_model_is_used_and_its_context_told() -> None:
    models: list[dict[str, Any]] = [{"id": "big", "owned_by": "vllm", "max_model_len": 4096}, {"id": "other"}]
    async with (
        misbehaving_server(scripted(HEAD_SSE, frame(finish="stop")), models) as server,
        running(server) as engine,
    ):
        assert engine.status.state == "ready"
        assert (engine.model.name, engine.model.context_tokens) == ("big", 4096)
        listener = Listener()
        engine.submit(prompt(), listener)
        await listener.end()
        body = server.asked("/v1/chat/completions")[0].body
    assert body["model"] == "big" and body["stream_options"]["continuous_usage_stats"] is True


async def test_a_named_model_wins_also_when_it_is_not_listed() -> None:
    async with misbehaving_server() as server, running(server, upstream_model="adapter") as engine:
        assert engine.status.state == "ready" and engine.model.name == "adapter"


async def test_a_server_that_lists_no_model_needs_one_named() -> None:
    async with misbehaving_server(models=[]) as server:
        async with running(server) as engine:
            assert engine.status.state == "loading" and "--upstream-model" in engine.status.detail
            with pytest.raises(EngineLoading):
                engine.submit(prompt(), Listener())
        async with running(server, upstream_model="m") as engine:
            assert engine.status.state == "ready"


async def test_a_server_without_a_list_is_asked_for_its_health() -> None:
    async with misbehaving_server() as server:
        del server.handlers["/v1/models"]
        server.handlers["/health"] = lambda request: request.answer(200, {})
        async with running(server, upstream_model="m") as engine:
            assert engine.status.state == "ready" and engine.model.name == "m"


async def test_a_server_that_is_loading_is_waited_for() -> None:
    async with misbehaving_server() as server:
        ready = server.handlers["/v1/models"]
        server.handlers["/v1/models"] = lambda request: request.answer(503, {"error": "Loading model"})
        async with running(server) as engine:
            assert engine.status.state == "loading" and "Loading model" in engine.status.detail
            with pytest.raises(EngineLoading, match="Loading model"):
                engine.submit(prompt(), Listener())
            server.handlers["/v1/models"] = ready
            await until(engine, "ready")


async def test_a_server_that_nobody_runs_is_told_and_submitting_says_lost() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        server = MisbehavingServer(f"http://127.0.0.1:{closed.getsockname()[1]}")
        async with running(server) as engine:
            assert engine.status.state == "loading" and "cannot be reached" in engine.status.detail
            with pytest.raises(EngineLost, match="cannot be reached"):
                engine.submit(prompt(), Listener())


async def test_a_server_that_goes_away_fails_the_prompt_and_turns_the_status() -> None:
    patient = Patience(back_off_s=0.01, absent_s=60, present_s=60)
    async with misbehaving_server() as server:
        engine = UpstreamEngine(settings(server), patience=patient, environ={})
        await engine.start()
        await engine.settled.wait()
        assert engine.status.state == "ready"
    listener = Listener()
    try:
        engine.submit(prompt(), listener)
        failed = await listener.end()
        assert failed.code == "upstream_error" and "cannot be reached" in failed.message
        await until(engine, "restarting")
        with pytest.raises(EngineLost):
            engine.submit(prompt("b"), Listener())
    finally:
        await engine.stop()


async def test_a_busy_server_that_answers_no_question_is_not_called_lost() -> None:
    async def handler(request: Request) -> None:
        await request.send(HEAD_SSE, frame("some"))
        await request.gone()

    questions = asyncio.Semaphore(0)

    async def silent(request: Request) -> None:
        questions.release()
        await request.gone()

    patience = Patience(question_s=0.05, absent_s=0.02, present_s=0.02)
    async with misbehaving_server(handler) as server, running(server, patience) as engine:
        listener = Listener()
        engine.submit(prompt(), listener)
        await listener.first(Piece)
        server.handlers["/v1/models"] = silent
        for _ in range(3):
            await questions.acquire()
        assert engine.status.state == "ready"
        engine.cancel("a")
        await listener.end()
        await until(engine, "restarting")
        assert "did not answer" in engine.status.detail


# Counting


async def count(server: MisbehavingServer, asked: Prompt) -> int:
    async with running(server) as engine:
        return await engine.count_tokens(asked)


async def test_vllm_counts_a_conversation() -> None:
    async with misbehaving_server() as server:
        server.handlers["/tokenize"] = lambda request: request.answer(200, {"count": 17, "tokens": [1] * 17})
        assert await count(server, prompt()) == 17
        assert server.asked("/tokenize")[0].body["messages"] == [{"role": "user", "content": "hello"}]


async def test_llama_cpp_counts_in_two_questions() -> None:
    async def tokenize(request: Request) -> None:
        await request.answer(200, {"tokens": list(range(len(request.body.get("content", "").split())))})

    async with misbehaving_server() as server:
        server.handlers["/tokenize"] = tokenize
        server.handlers["/apply-template"] = lambda r: r.answer(200, {"prompt": "<user> hello <assistant>"})
        assert await count(server, prompt()) == 3
        assert await count(server, Prompt("a", text="two words")) == 2


@pytest.mark.parametrize("body", [None, b"[]", b"nonsense", b'{"tokens": []}'])
async def test_a_server_that_cannot_count_says_so_and_nothing_is_guessed(body: bytes | None) -> None:
    async with misbehaving_server() as server:
        if body is not None:
            server.handlers["/tokenize"] = lambda request: request.answer(200, body)
        with pytest.raises(BadRequest, match="cannot count"):
            await count(server, prompt())


async def test_counting_that_gets_no_answer_is_the_upstreams_failure() -> None:
    async with misbehaving_server() as server:
        server.handlers["/tokenize"] = lambda request: request.gone()
        with pytest.raises(FirstwordError, match="did not answer") as caught:
            await count(server, prompt())
    assert caught.value.code == "upstream_error"
