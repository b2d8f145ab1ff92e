"""One relayed answer: servers on real sockets that behave well, oddly and badly."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from app.generation import Begun, Ended, Failed, Paused, Piece, Resumed, Waiting
from app.prompt import Prompt, Sampling
from app.upstream.address import Patience
from app.upstream.engine import UpstreamEngine
from app.upstream.sse_parser import MAX_EVENT_BYTES
from tests.upstream.misbehaving_server import (
    DONE,
    HEAD_SSE,
    ROLE,
    Request,
    frame,
    misbehaving_server,
    usage_frame,
)
from tests.upstream.upstream_harness import HURRY, Listener, ask, prompt, running, scripted, settings

# Answers that are well, whatever their form


NORMAL = (
    ROLE,
    frame("Hel"),
    frame("lo "),
    frame("👩‍👩‍👧"),
    frame(finish="stop"),
    usage_frame(12, 9, 4),
    DONE,
)


async def test_a_normal_answer_comes_piece_by_piece_with_the_servers_usage() -> None:
    async with misbehaving_server(scripted(HEAD_SSE, *NORMAL)) as server:
        listener, ended = await ask(server)
    kinds = [type(o) for o in listener.outputs]
    assert kinds == [Waiting, Begun, Piece, Piece, Piece, Ended]
    assert listener.text == "Hello 👩‍👩‍👧"
    assert (ended.finish_reason, ended.prompt_tokens, ended.completion_tokens) == ("stop", 12, 9)
    assert ended.cached_tokens == 4
    # Only the end knows: until then the number is 0, which stands for "not known yet".
    begun = listener.outputs[1]
    assert isinstance(begun, Begun) and (begun.prompt_tokens, begun.cached_tokens) == (0, 0)
    pieces = [o for o in listener.outputs if isinstance(o, Piece)]
    assert ended.first_token_ns == pieces[0].at_ns and ended.last_token_ns == pieces[-1].at_ns
    assert ended.begun_ns <= ended.first_token_ns <= ended.at_ns


RAW = b"".join(NORMAL)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([RAW.replace(b"\n", b"\r\n")], id="CRLF"),
        pytest.param([RAW.replace(b"\n", b"\r")], id="CR"),
        pytest.param([RAW[i : i + 1] for i in range(len(RAW))], id="byte by byte"),
        pytest.param([b"\xef\xbb\xbf" + RAW], id="BOM"),
        pytest.param(
            [b": ping\n\n" + RAW.replace(b"\n\n", b"\n\n:\n\n: ping\n\nretry: 10\n\n")], id="comments"
        ),
        pytest.param([b"id: 1\nevent: message\n" + RAW], id="ids and types"),
        pytest.param([RAW.removesuffix(DONE)], id="no DONE"),
        pytest.param([RAW, b"data: {not json after the end\n\n"], id="rubbish after DONE"),
    ],
)
async def test_the_same_answer_in_any_framing_is_the_same_answer(parts: list[bytes]) -> None:
    async with misbehaving_server(scripted(HEAD_SSE, *parts)) as server:
        listener, ended = await ask(server)
    assert listener.text == "Hello 👩‍👩‍👧"
    assert (ended.finish_reason, ended.prompt_tokens, ended.completion_tokens) == ("stop", 12, 9)


async def test_each_piece_is_given_before_the_next_one_is_sent() -> None:
    listener = Listener()
    seen = asyncio.Event()

    async def handler(request: Request) -> None:
        await request.send(HEAD_SSE, frame("one"))
        async with asyncio.timeout(5):
            await seen.wait()
        await request.send(frame("two"), frame(finish="length"))

    async with misbehaving_server(handler) as server, running(server) as engine:
        engine.submit(prompt(), listener)
        assert (await listener.first(Piece)).text == "one"
        seen.set()
        assert (await listener.end()).finish_reason == "length"
    assert listener.text == "onetwo"


async def test_a_stream_left_open_after_its_finish_reason_ends_well() -> None:
    async def handler(request: Request) -> None:
        await request.send(HEAD_SSE, frame("all"), frame(finish="stop"))
        await request.gone()

    async with misbehaving_server(handler) as server:
        listener, ended = await ask(server)
    assert isinstance(ended, Ended) and listener.text == "all"


async def test_an_answer_that_is_not_streamed_is_one_piece() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "All of it."}, "finish_reason": "stop"}

    async def handler(request: Request) -> None:
        usage = {"prompt_tokens": 3, "completion_tokens": 4}
        await request.answer(200, {"object": "chat.completion", "choices": [choice], "usage": usage})

    async with misbehaving_server(handler) as server:
        listener, ended = await ask(server)
    assert [o.tokens for o in listener.outputs if isinstance(o, Piece)] == [4]
    assert listener.text == "All of it." and ended.completion_tokens == 4


async def test_a_stop_string_that_the_server_sends_is_cut_and_the_server_told_to_stop() -> None:
    left = asyncio.Event()

    async def handler(request: Request) -> None:
        await request.send(HEAD_SSE, frame("text E"), frame("ND"), frame(" not wanted"))
        await request.gone()
        left.set()

    async with misbehaving_server(handler) as server:
        listener, ended = await ask(server, stop=("END",))
        async with asyncio.timeout(5):
            await left.wait()
    assert listener.text == "text " and (ended.finish_reason, ended.stop) == ("stop", "END")


async def test_logprobs_are_asked_for_and_passed_on() -> None:
    logprobs = {"content": [{"token": "hi", "logprob": -0.25, "bytes": [104, 105], "top_logprobs": []}]}
    choice = {"index": 0, "delta": {"content": "hi"}, "logprobs": logprobs, "finish_reason": None}
    data = b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"
    async with misbehaving_server(scripted(HEAD_SSE, data, frame(finish="stop"), DONE)) as server:
        listener, _ = await ask(server, sampling=Sampling(logprobs=0))
        assert server.asked("/v1/chat/completions")[0].body["logprobs"] is True
    piece = await listener.first(Piece)
    assert piece.info[0].data == b"hi" and piece.info[0].logprob == -0.25


async def test_a_raw_text_is_completed_without_a_chat_template() -> None:
    async with misbehaving_server() as server:
        chunk = {"choices": [{"index": 0, "text": " upon", "finish_reason": "length"}]}
        data = b"data: " + json.dumps(chunk).encode() + b"\n\n"
        server.handlers["/v1/completions"] = scripted(HEAD_SSE, data, DONE)
        async with running(server) as engine:
            listener = Listener()
            engine.submit(Prompt("a", text="Once"), listener)
            ended = await listener.end()
    assert listener.text == " upon" and ended.finish_reason == "length"


async def test_the_key_is_sent_and_kept_out_of_messages() -> None:
    async def handler(request: Request) -> None:
        given = request.headers["authorization"]
        await request.answer(401, {"error": {"message": f"wrong key in {given!r}"}})

    async with misbehaving_server(handler) as server:
        engine = UpstreamEngine(
            settings(server, upstream_key_env="K"), patience=HURRY, environ={"K": "sk-secret"}
        )
        await engine.start()
        await engine.settled.wait()
        listener = Listener()
        engine.submit(prompt(), listener)
        failed = await listener.end()
        await engine.stop()
    assert server.requests[-1].headers["authorization"] == "Bearer sk-secret"
    assert failed.code == "upstream_error" and "401" in failed.message and "sk-secret" not in failed.message


# Failures before the first byte


async def test_a_refusal_comes_before_waiting_so_that_it_can_keep_its_status() -> None:
    async def handler(request: Request) -> None:
        error = {"message": "This model's maximum context length is 64 tokens", "param": "messages"}
        await request.answer(400, {"error": error})

    async with misbehaving_server(handler) as server:
        listener, failed = await ask(server)
    assert listener.outputs == [failed]
    assert (failed.code, failed.param) == ("prompt_too_long", "messages")
    assert len(server.asked("/v1/chat/completions")) == 1


async def test_a_head_that_takes_its_time_leaves_the_prompt_waiting_in_line() -> None:
    listener = Listener()

    async def handler(request: Request) -> None:
        await listener.first(Waiting)
        await request.send(HEAD_SSE, frame("ok"), frame(finish="stop"))

    patience = Patience(refusal_s=0.01)
    async with misbehaving_server(handler) as server, running(server, patience) as engine:
        engine.submit(prompt(), listener)
        assert isinstance(await listener.end(), Ended)
    assert [type(o) for o in listener.outputs[:2]] == [Waiting, Begun]


async def test_a_503_is_tried_once_more() -> None:
    async with misbehaving_server() as server:

        async def handler(request: Request) -> None:
            if len(server.asked("/v1/chat/completions")) == 1:
                await request.answer(503, {"error": "loading"})
            else:
                await request.send(HEAD_SSE, *NORMAL)

        server.handlers["/v1/chat/completions"] = handler
        listener, ended = await ask(server)
    assert isinstance(ended, Ended) and listener.text == "Hello 👩‍👩‍👧"


@pytest.mark.parametrize(("status", "tries"), [(503, 2), (500, 1), (429, 1), (302, 1)])
async def test_what_stays_refused_fails_with_the_upstreams_status_and_message(
    status: int, tries: int
) -> None:
    async def handler(request: Request) -> None:
        await request.answer(status, {"error": {"message": "no room"}})

    async with misbehaving_server(handler) as server:
        _, failed = await ask(server)
    assert failed.code == "upstream_error" and f"{status}: no room" in failed.message
    assert len(server.asked("/v1/chat/completions")) == tries


async def test_a_connection_closed_before_the_answer_is_tried_once_more() -> None:
    async def handler(request: Request) -> None:
        request.writer.close()

    async with misbehaving_server(handler) as server:
        _, failed = await ask(server)
    assert failed.code == "upstream_error" and "broke the connection off" in failed.message
    assert len(server.asked("/v1/chat/completions")) == 2


async def test_silence_before_the_answer_fails_and_is_not_tried_again() -> None:
    async def handler(request: Request) -> None:
        await request.gone()

    async with misbehaving_server(handler) as server:
        _, failed = await ask(server)
    assert failed.code == "upstream_error" and "sent nothing for 0.3 s" in failed.message
    assert len(server.asked("/v1/chat/completions")) == 1


async def test_a_page_of_html_is_no_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n"
    async with misbehaving_server(scripted(head, b"<h1>Hello</h1>")) as server:
        _, failed = await ask(server)
    assert failed.code == "upstream_error" and "text/html" in failed.message


# Failures in mid-stream: the text so far was given, and nothing is tried again


def large_event() -> bytes:
    return b"data: " + b"x" * MAX_EVENT_BYTES + b"\n\n"


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        pytest.param(b'data: {"error": {"message": "boom"}}\n\n' + DONE, "boom", id="error frame"),
        pytest.param(b'data: {"error": "boom"}\n\n', "boom", id="error string"),
        pytest.param(b'event: error\ndata: {"error": "boom"}\n\n', "boom", id="error event"),
        pytest.param(b"", "without a finish reason", id="end without finish reason"),
        pytest.param(DONE, "without a finish reason", id="DONE without finish reason"),
        pytest.param(frame(finish="stop").rstrip(), "without a finish reason", id="finish cut off"),
        pytest.param(frame(finish="abort") + DONE, "abort", id="aborted"),
        pytest.param(b"data: {nonsense\n\n", "cannot read the frame", id="not JSON"),
        pytest.param(large_event(), "larger than", id="huge event"),
    ],
)
async def test_a_failure_in_mid_stream_is_one_clear_error_after_the_text(rest: bytes, words: str) -> None:
    async with misbehaving_server(scripted(HEAD_SSE, frame("partial"), rest)) as server:
        listener, failed = await ask(server)
    assert listener.text == "partial"
    assert isinstance(failed, Failed) and failed.code == "upstream_error" and words in failed.message
    assert len(server.asked("/v1/chat/completions")) == 1


async def test_an_abrupt_close_in_mid_stream_is_an_error() -> None:
    async def handler(request: Request) -> None:
        chunk = frame("partial")
        head = HEAD_SSE.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\n")
        await request.send(head, b"%x\r\n%b\r\n" % (len(chunk), chunk))

    async with misbehaving_server(handler) as server:
        listener, failed = await ask(server)
    assert listener.text == "partial" and "broke the connection off" in failed.message


async def test_silence_in_mid_stream_is_an_error_and_the_upstream_is_left() -> None:
    left = asyncio.Event()

    async def handler(request: Request) -> None:
        await request.send(HEAD_SSE, frame("partial"))
        await request.gone()
        left.set()

    async with misbehaving_server(handler) as server:
        listener, failed = await ask(server)
        async with asyncio.timeout(5):
            await left.wait()
    assert listener.text == "partial" and "sent nothing for 0.3 s" in failed.message


# Cancelling, pausing, stopping


@pytest.mark.parametrize("head", [b"", HEAD_SSE + frame("some")], ids=["before the head", "in mid-stream"])
async def test_a_cancelled_generation_closes_its_connection_at_once(head: bytes) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def handler(request: Request) -> None:
        await request.send(head)
        asked.set()
        await request.gone()
        left.set()

    async with misbehaving_server(handler) as server, running(server, Patience()) as engine:
        listener = Listener()
        engine.submit(prompt(), listener)
        await asked.wait()
        if head:
            await listener.first(Piece)
        engine.cancel("a")
        assert not any(isinstance(o, Ended) for o in listener.outputs), "told later, never inside cancel"
        engine.cancel("a")
        ended = await listener.end()
        async with asyncio.timeout(5):
            await left.wait()
    assert ended.finish_reason == "cancelled" and ended.completion_tokens == (1 if head else 0)
    assert (ended.begun_ns is not None) == bool(head)


async def test_a_prompt_cancelled_before_anything_was_sent_still_ends() -> None:
    async with misbehaving_server() as server, running(server) as engine:
        listener = Listener()
        engine.submit(prompt(), listener)
        engine.cancel("a")
        assert (await listener.end()).finish_reason == "cancelled"
        engine.cancel("a")
        engine.grant("a", 5)
        assert server.asked("/v1/chat/completions") == []


async def test_a_used_up_grant_stops_the_reading_and_tcp_pushes_back() -> None:
    filler, blocked, passed = b": " + b"x" * 65_536 + b"\n", asyncio.Event(), asyncio.Event()

    async def handler(request: Request) -> None:
        small = request.writer.get_extra_info("socket")
        small.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        await request.send(HEAD_SSE, frame("a"), frame("b"))
        # Until the kernel's buffers on both sides are full, however large they are.
        while request.writer.transport.get_write_buffer_size() < 4 * len(filler):
            request.writer.write(filler)
            await asyncio.sleep(0)
        blocked.set()
        await request.writer.drain()
        passed.set()
        await request.send(frame("c"), frame(finish="stop"), DONE)

    async with misbehaving_server(handler) as server, running(server, Patience()) as engine:
        listener = Listener()
        engine.submit(prompt(granted_tokens=2), listener)
        paused = await listener.first(Paused)
        async with asyncio.timeout(20):
            await blocked.wait()
        assert paused.made == 2 and listener.text == "ab" and not passed.is_set()
        assert not engine.model.can_pause
        engine.grant("a", 10)
        ended = await listener.end()
    kinds = [type(o) for o in listener.outputs]
    assert kinds == [Waiting, Begun, Piece, Piece, Paused, Resumed, Piece, Ended]
    assert listener.text == "abc" and ended.paused_ns > 0


async def test_a_generation_cancelled_while_paused_counts_the_pause() -> None:
    async def handler(request: Request) -> None:
        await request.send(HEAD_SSE, frame("a"), frame("b"))
        await request.gone()

    async with misbehaving_server(handler) as server, running(server, Patience()) as engine:
        listener = Listener()
        engine.submit(prompt(granted_tokens=1), listener)
        await listener.first(Paused)
        engine.cancel("a")
        ended = await listener.end()
    assert ended.finish_reason == "cancelled" and ended.paused_ns > 0 and listener.text == "a"
