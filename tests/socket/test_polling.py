"""A reply for clients that ask again and again: the same text, credit by what they say they have."""

import asyncio
from typing import Any

import httpx

from app.engine.scripted import ScriptedEngine
from tests.server import run_server, until
from tests.socket.clients import HELLO, sse_events, talk

WORDS = [(b"One", 0.0), (b" two", 0.0), (b" three", 0.0), (b".", 0.0)]
TEXT = "One two three."


class Asker:
    """A client that polls one reply."""

    def __init__(self, url: str) -> None:
        self.http = httpx.AsyncClient(base_url=url, timeout=10)
        self.reply = self.poller = self.text = ""
        self.after = 0

    async def start(self, **fields: Any) -> httpx.Response:
        answer = await self.http.post("/api/replies", json={"messages": HELLO, "poll": True, **fields})
        if answer.status_code == 202:
            self.reply, self.poller = answer.json()["reply"], answer.json()["poller"]
        return answer

    async def poll(self, **query: Any) -> list[dict[str, Any]]:
        answer = await self.http.get(f"/api/replies/{self.reply}/poll", params={"after": self.after, **query})
        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "no-store"
        events: list[dict[str, Any]] = answer.json()["events"]
        for event in events:
            if event["type"] == "delta":
                assert event["seq"] > self.after
                self.text, self.after = self.text + event["text"], event["seq"]
        return events

    async def read_all(self, **query: Any) -> list[dict[str, Any]]:
        events = await self.poll(**query)
        while not events or events[-1]["type"] not in ("done", "error"):
            events += await self.poll(**query)
        return events

    async def __aenter__(self) -> "Asker":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.http.aclose()


async def test_polling_brings_the_same_events_as_a_stream():
    async with run_server(ScriptedEngine(WORDS)) as s, Asker(s.url) as a:
        assert (await a.start()).status_code == 202
        events = await a.read_all()
        path = f"/api/replies/{a.reply}"
        streamed = sse_events((await a.http.get(path, headers={"accept": "text/event-stream"})).text)
    assert a.text == TEXT
    assert [e for e in events if e["type"] != "queued"] == streamed


async def test_an_answer_says_at_once_what_there_is_and_only_what_is_new():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, Asker(s.url) as a:
        await a.start()
        assert [e["type"] for e in await a.poll()] == ["queued", "started"]
        assert await a.poll() == []
        engine.step()
        engine.step()
        await until(lambda: len(s.replies.get(a.reply).deltas) == 2)
        assert [e["text"] for e in await a.poll()] == ["One", " two"]
        assert await a.poll() == []


async def test_what_was_told_and_not_confirmed_is_told_again():
    async with run_server(ScriptedEngine(WORDS)) as s, Asker(s.url) as a:
        await a.start()
        await until(lambda: not s.replies.get(a.reply).running)
        first = await a.poll()
        a.after = 2
        again = await a.poll()
        assert again == [e for e in first if e.get("seq", 0) > 2]
        a.after = 0
        whole = [e["text"] for e in await a.poll() if e["type"] == "delta"]
        assert "".join(whole) == TEXT, "who went back is given it from there"


async def test_the_pace_is_the_one_asked_for_at_the_start():
    async with run_server(ScriptedEngine(WORDS)) as s, Asker(s.url) as a, Asker(s.url) as b:
        await a.start(id="race", pace="whole", await_readers=2)
        await b.start(id="race", pace="token", await_readers=2)
        assert a.reply == b.reply and a.poller != b.poller
        whole = await a.read_all(poller=a.poller)
        tokens = await b.read_all(poller=b.poller)
    assert a.text == b.text == TEXT
    assert sum(e["type"] == "delta" for e in whole) == 1
    assert sum(e["type"] == "delta" for e in tokens) == 4


async def test_a_poller_counts_among_the_readers_of_a_race():
    engine = ScriptedEngine(WORDS)
    async with run_server(engine) as s, Asker(s.url) as a, talk(s.ws) as ws:
        await a.start(id="race", await_readers=2)
        assert await a.poll() == [] and not engine.made
        await ws.start("race", await_readers=2)
        await ws.hear_until("done")
        await a.read_all()
        assert a.text == TEXT


async def test_who_does_not_ask_holds_the_generation_up_and_confirming_lets_it_go_on():
    engine = ScriptedEngine([(b"word ", 0.0)])
    async with run_server(engine, high_tokens=8, low_tokens=2) as s, Asker(s.url) as a:
        await a.start(ignore_eos=True, max_tokens=40)
        reply = s.replies.get(a.reply)
        await until(lambda: reply.pause)
        assert engine.made[a.reply] == 8
        events = await a.read_all()
        assert a.text == "word " * 40 and events[-1]["type"] == "done"


async def test_who_is_not_seen_for_the_stall_limit_has_left_and_may_come_back():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, stall_s=0.2) as s, Asker(s.url) as a:
        await a.start()
        reply = s.replies.get(a.reply)
        engine.step()
        await a.poll()
        assert len(reply.readers) == 1
        await until(lambda: not reply.readers)
        for _ in range(3):
            engine.step()
        await until(lambda: not reply.running)
        events = await a.read_all()
        assert a.text == TEXT and events[-1]["finish_reason"] == "stop"


async def test_a_link_delays_what_is_there_for_a_poll():
    async with run_server(ScriptedEngine(WORDS)) as s, Asker(s.url) as a:
        clock = asyncio.get_running_loop().time
        began = clock()
        await a.start(link={"latency_ms": 150})
        await a.read_all()
        assert a.text == TEXT and clock() - began >= 0.15


async def test_pollers_are_bounded_and_named_by_their_own_reply_only():
    async with run_server(ScriptedEngine(WORDS), max_replies=3) as s, Asker(s.url) as a, Asker(s.url) as b:
        await a.start()
        await b.start()
        wrong = await a.http.get(f"/api/replies/{a.reply}/poll?poller={b.poller}")
        assert (wrong.status_code, wrong.json()["param"]) == (404, "poller")
        for name in "xy":
            answer = await a.http.get(f"/api/replies/{a.reply}/poll?poller={name}")
        assert (answer.status_code, answer.json()["code"]) == (503, "overloaded")
        for query, param in (("after=-1", "after"), ("nonsense=1", "nonsense"), ("pace=slow", "pace")):
            refused = await a.http.get(f"/api/replies/{a.reply}/poll?{query}")
            assert (refused.status_code, refused.json()["param"]) == (400, param)
        assert (await a.http.get("/api/replies/nobody/poll")).status_code == 404
        assert (await a.start(poll=1)).json()["param"] == "poll"
