"""F25: whoever asks for too much is refused before it costs anything, and others still get theirs."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from app.engine.scripted import ScriptedEngine
from app.prompt import Prompt
from tests.server import run_server
from tests.socket.clients import HELLO, http_request, raw, talk

#: Each is too much by one field; JSON as it is sent, since NaN has no Python body in httpx.
TOO_MUCH = {
    "characters": json.dumps({"messages": [{"role": "user", "content": "x" * 200_001}]}),
    "characters in sum": json.dumps({"messages": [{"role": "user", "content": "x" * 10_000}] * 21}),
    "messages": json.dumps({"messages": HELLO * 65}),
    "max_tokens": json.dumps({"messages": HELLO, "max_tokens": 10**9}),
    "max_tokens below": json.dumps({"messages": HELLO, "max_tokens": -1}),
    "temperature NaN": '{"messages":[{"role":"user","content":"x"}],"temperature":NaN}',
    "temperature infinite": '{"messages":[{"role":"user","content":"x"}],"temperature":1e999}',
    "a number of 5000 digits": '{"messages":[{"role":"user","content":"x"}],"seed":' + "9" * 5000 + "}",
    "stop strings": json.dumps({"messages": HELLO, "stop": ["x"] * 1000}),
    "a long stop string": json.dumps({"messages": HELLO, "stop": "x" * 10_000}),
}
#: Fields of our own dialect only; OpenAI's knows and heeds none of them.
OWN = {
    "readers": json.dumps({"messages": HELLO, "await_readers": 10**6}),
    "tokens a second": json.dumps({"messages": HELLO, "tokens_per_second": 0}),
}


class Untouched(ScriptedEngine):
    """An engine that nobody may ask for anything."""

    def submit(self, prompt: Prompt, sink: object) -> None:
        raise AssertionError("the engine was asked")

    async def count_tokens(self, prompt: Prompt) -> int:
        raise AssertionError("the engine was asked to tokenise")


@pytest.mark.parametrize(
    ("path", "body"),
    [("/api/replies", body) for body in (TOO_MUCH | OWN).values()]
    + [("/v1/chat/completions", body.replace("{", '{"model":"default",', 1)) for body in TOO_MUCH.values()],
    ids=[f"own-{name}" for name in TOO_MUCH | OWN] + [f"openai-{name}" for name in TOO_MUCH],
)
async def test_too_much_is_refused_before_anything_is_tokenised(path, body):
    async with run_server(Untouched()) as s, httpx.AsyncClient(base_url=s.url) as http:
        answer = await http.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 413), answer.text
        assert len(s.replies) == 0


async def test_of_a_hundred_at_once_those_beyond_the_line_come_back_later_and_the_others_are_served():
    slots, line = 4, 32
    engine = ScriptedEngine([(b"word ", 1.0)] * 10, slots=slots)
    async with (
        run_server(engine, max_waiting=line) as s,
        httpx.AsyncClient(base_url=s.url, timeout=30, limits=httpx.Limits(max_connections=120)) as http,
        talk(s.ws) as other,
    ):
        await other.start("other", max_tokens=10)
        await other.hear_until("started")
        answers = await asyncio.gather(*(http.get("/generate-full?prompt=x") for _ in range(100)))
        statuses = [answer.status_code for answer in answers]
        assert set(statuses) == {200, 503} and statuses.count(200) >= line
        for answer in answers:
            if answer.status_code == 503:
                assert int(answer.headers["retry-after"]) >= 1
            else:
                assert answer.json()["text"] == "word " * 10
        # Who was there before them is served in full; the batch was never larger than it may be.
        assert (await other.hear_until("done"))[-1]["usage"]["completion_tokens"] == 10
        assert max(engine.made.values()) == 10


async def test_a_reply_has_an_end_whatever_is_asked_for():
    engine = ScriptedEngine([(b"word ", 0.0)])
    async with run_server(engine, max_output_tokens=50, default_output_tokens=50) as s, raw(s.port) as client:
        await client.send(http_request("GET", "/generate-full?prompt=x&ignore_eos=true"))
        await client.read_until(b"}")
        assert list(engine.made.values()) == [50]
