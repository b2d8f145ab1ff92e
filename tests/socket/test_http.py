"""Our own HTTP wires, on real sockets."""

import asyncio
import json

import httpx
import pytest

from app.engine.scripted import ScriptedEngine
from tests.server import run_server, until
from tests.socket.clients import HELLO, http_request, raw, sse_events, talk

WORDS = [(b"One", 0.0), (b" two", 0.0), (b" three", 0.0), (b".", 0.0)]
TEXT = "One two three."
SSE = {"accept": "text/event-stream"}
BODY = {"messages": HELLO}


def client(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=10)


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("text/event-stream", "text/event-stream; charset=utf-8"),
        ("application/x-ndjson", "application/x-ndjson"),
        ("text/plain", "text/plain; charset=utf-8"),
    ],
)
async def test_streams_are_marked_so_that_nobody_keeps_or_collects_them(accept, media_type):
    async with run_server(ScriptedEngine(WORDS)) as s, client(s.url) as c:
        answer = await c.post(
            "/api/replies", json=BODY, headers={"accept": accept, "accept-encoding": "gzip, br"}
        )
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media_type
    assert answer.headers["cache-control"] == "no-cache, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["transfer-encoding"] == "chunked"
    assert "content-encoding" not in answer.headers and "content-length" not in answer.headers
    assert answer.headers["x-reply-id"]


async def test_words_arrive_while_the_rest_is_not_made_yet():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, raw(s.port) as c:
        await c.send(http_request("GET", "/generate-stream?prompt=hi"))
        await c.read_until(b"\r\n\r\n")
        for made, word in enumerate((b"One", b" two", b" three"), 1):
            engine.step()
            await c.read_until(word)
            assert sum(engine.made.values()) == made
        engine.step()
        await c.read_until(b"\r\n0\r\n\r\n")


CHAT = {"model": "default", "stream": True, "messages": HELLO}
STREAMS = {
    "sse": http_request("POST", "/api/replies", BODY, accept="text/event-stream"),
    "ndjson": http_request("POST", "/api/replies", BODY, accept="application/x-ndjson"),
    "plain": http_request("POST", "/api/replies", BODY, accept="text/plain"),
    "lesson": http_request("POST", "/generate-stream", {"prompt": "hi"}),
    "openai chat": http_request("POST", "/v1/chat/completions", CHAT),
    "openai text": http_request(
        "POST", "/v1/completions", {"model": "default", "stream": True, "prompt": "hi"}
    ),
    "anthropic": http_request("POST", "/v1/messages", CHAT | {"max_tokens": 50}),
}


@pytest.mark.parametrize("request_bytes", STREAMS.values(), ids=STREAMS)
async def test_on_every_wire_each_word_is_there_before_the_next_is_made(request_bytes):
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, raw(s.port) as c:
        await c.send(request_bytes)
        await until(lambda: [r for r in s.replies.running() if r.started])
        for made, word in enumerate((b"One", b" two", b" three"), 1):
            engine.step()
            await c.read_until(word)
            assert sum(engine.made.values()) == made
        engine.step()
        await c.read_until(b"\r\n0\r\n\r\n")


async def test_headers_come_before_the_first_word():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, raw(s.port) as c:
        await c.send(http_request("POST", "/api/replies", BODY, accept="text/event-stream"))
        head = await c.read_until(b'"type":"queued"')
        assert head.startswith(b"HTTP/1.1 200 ")
        assert not engine.made


async def test_every_wire_tells_the_same_reply():
    async with run_server(ScriptedEngine(WORDS)) as s, client(s.url) as c:
        whole = (await c.post("/api/replies", json=BODY)).json()
        assert set(whole) == {"reply", "text", "finish_reason", "usage", "timings"}
        path = f"/api/replies/{whole['reply']}"
        events = sse_events((await c.get(path, headers=SSE)).text)
        lines = (await c.get(path, headers={"accept": "application/x-ndjson"})).text.splitlines()
        plain = (await c.get(path, headers={"accept": "text/plain"})).text
        again = (await c.get(path)).json()
    assert [json.loads(line) for line in lines] == events
    assert "".join(e["text"] for e in events if e["type"] == "delta") == plain == whole["text"] == TEXT
    assert again == whole
    assert {k: events[-1][k] for k in ("finish_reason", "usage", "timings")} == {
        k: whole[k] for k in ("finish_reason", "usage", "timings")
    }


@pytest.mark.parametrize("pace", ["token", "word", "sentence", "whole"])
async def test_the_pace_is_chosen_by_body_or_query(pace):
    async with run_server(ScriptedEngine(WORDS)) as s, client(s.url) as c:
        posted = sse_events((await c.post("/api/replies", json=BODY | {"pace": pace}, headers=SSE)).text)
        reply = posted[0]["reply"]
        read = sse_events((await c.get(f"/api/replies/{reply}?pace={pace}", headers=SSE)).text)
        pieces = [[e["text"] for e in events if e["type"] == "delta"] for events in (posted, read)]
        assert pieces[0] == pieces[1] and "".join(pieces[0]) == TEXT
        assert (len(pieces[0]) == 1) == (pace in ("sentence", "whole"))


async def test_an_event_source_resumes_behind_what_it_has_and_stops_after_the_end():
    async with run_server(ScriptedEngine(WORDS)) as s, client(s.url) as c:
        stream = (await c.post("/api/replies", json=BODY, headers=SSE)).text
        path = f"/api/replies/{sse_events(stream)[0]['reply']}"
        ids = [line[4:] for line in stream.splitlines() if line.startswith("id: ")]
        assert ids == ["1", "2", "3", "4", "4.end"]
        for have in range(5):
            answer = await c.get(path, headers=SSE | {"last-event-id": str(have)})
            events = sse_events(answer.text)
            assert [e["seq"] for e in events if e["type"] == "delta"] == list(range(have + 1, 5))
            assert events[-1]["type"] == "done"
            by_query = await c.get(f"{path}?after={have}", headers=SSE)
            assert by_query.text == answer.text
        ended = await c.get(path, headers=SSE | {"last-event-id": "4.end"})
        assert (ended.status_code, ended.content) == (204, b"")
        wrong = await c.get(path, headers=SSE | {"last-event-id": "4;drop"})
        assert wrong.status_code == 400


async def test_json_which_holds_the_whole_text_refuses_to_go_on_behind_a_delta():
    async with run_server(ScriptedEngine(WORDS)) as s, client(s.url) as c:
        path = f"/api/replies/{(await c.post('/api/replies', json=BODY)).json()['reply']}"
        for how in ({"params": {"after": 2}}, {"headers": {"last-event-id": "2"}}):
            refused = await c.get(path, **how)
            assert (refused.status_code, refused.json()["param"]) == (400, "after")
        assert (await c.get(path, params={"after": 0, "pace": "word"})).json()["text"] == TEXT


async def test_after_the_resume_window_the_whole_text_comes_anew_and_says_so():
    async with run_server(ScriptedEngine(WORDS), resume_s=0.05) as s, client(s.url) as c:
        reply = (await c.post("/api/replies", json=BODY)).json()["reply"]
        await until(lambda: s.replies.get(reply).compacted)
        events = sse_events((await c.get(f"/api/replies/{reply}?after=2", headers=SSE)).text)
        assert events[0]["recovered"] is False
        assert [e["text"] for e in events if e["type"] == "delta"] == [TEXT]


async def test_delete_stops_a_reply_from_anywhere():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, client(s.url) as c, talk(s.ws) as ws:
        await ws.start("a")
        reply = (await ws.hear_until("started"))[-1]["reply"]
        assert (await c.delete(f"/api/replies/{reply}")).status_code == 204
        assert (await ws.hear_until("done"))[-1]["finish_reason"] == "cancelled"
        assert (await c.delete(f"/api/replies/{reply}")).status_code == 204
        assert (await c.delete("/api/replies/nobody")).status_code == 404


BAD = [
    ("POST", "/api/replies", b"{", 400, None),
    ("POST", "/api/replies", b"[]", 400, None),
    ("POST", "/api/replies", b"\xff", 400, None),
    ("POST", "/api/replies", b"{}", 400, "messages"),
    ("POST", "/api/replies", b'{"messages": []}', 400, "messages"),
    ("POST", "/api/replies", b'{"messages": [{"role":"user","content":"x"}], "top_p": NaN}', 400, "top_p"),
    (
        "POST",
        "/api/replies",
        b'{"messages": [{"role":"user","content":"x"}], "nonsense": 1}',
        400,
        "nonsense",
    ),
    ("GET", "/api/replies/nobody", b"", 404, "reply"),
    ("GET", "/api/replies", b"", 405, None),
    ("GET", "/api/nothing", b"", 404, None),
    ("GET", "/generate-full", b"", 400, "prompt"),
    ("GET", "/generate-full?prompt=", b"", 400, "prompt"),
    ("GET", "/generate-full?prompt=x&max_tokens=0", b"", 400, "max_tokens"),
    ("GET", "/generate-full?prompt=x&max_tokens=many", b"", 400, "max_tokens"),
    ("GET", "/generate-full?prompt=x&temperature=NaN", b"", 400, "temperature"),
    ("GET", "/generate-full?prompt=x&prompt=y", b"", 400, "prompt"),
    ("GET", "/generate-stream?prompt=x&pace=slow", b"", 400, "pace"),
    ("POST", "/generate-stream", b'{"prompt": 5}', 400, "prompt"),
    ("HEAD", "/generate-stream?prompt=x", b"", 405, None),
    ("PUT", "/generate-stream?prompt=x", b"", 405, None),
    ("HEAD", "/api/probe?ticks=600&every_ms=2000", b"", 405, None),
    ("HEAD", "/api/lab/steps", b"", 405, None),
    ("HEAD", "/api/preflight?bytes=2000000", b"", 405, None),
    ("GET", "/api/probe?ticks=0", b"", 400, "ticks"),
    ("GET", "/generate-full?prompt=a+b+c+d+e+f+g+h+i", b"", 400, "messages"),
]


async def test_bad_requests_get_a_status_and_json_naming_the_field_and_start_nothing():
    engine = ScriptedEngine(WORDS, context_tokens=8)
    async with run_server(engine) as s, client(s.url) as c:
        for method, path, body, status, param in BAD:
            for accept in ("*/*", "text/event-stream"):
                answer = await c.request(method, path, content=body, headers={"accept": accept})
                assert answer.status_code == status, (method, path, body)
                if method != "HEAD":
                    assert answer.headers["content-type"] == "application/json"
                    error = answer.json()
                    assert error["type"] == "error" and error["message"]
                    assert error.get("param") == param, (method, path, body)
        assert not engine.made and not s.replies.running()


async def test_a_body_over_the_limit_is_refused_before_it_is_read():
    async with run_server(max_body_bytes=2000) as s, client(s.url) as c:
        answer = await c.post("/api/replies", content=b"x" * 2001)
        assert answer.status_code == 413 and answer.json()["code"] == "request_too_large"
        async with raw(s.port) as lazy:
            await lazy.send(
                b"POST /api/replies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"
            )
            assert (await lazy.read_all()).startswith(b"HTTP/1.1 413 ")
        async with raw(s.port) as chunked:
            await chunked.send(
                b"POST /api/replies HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                + b"800\r\n" + b"x" * 2048 + b"\r\n"
            )  # fmt: skip
            assert (await chunked.read_all()).startswith(b"HTTP/1.1 413 ")


async def test_a_full_line_at_the_door_is_503_and_says_when_to_come_back():
    engine = ScriptedEngine(WORDS, slots=1, manual=True)
    async with run_server(engine, max_waiting=1) as s, client(s.url) as c, talk(s.ws) as ws:
        await ws.start("running")
        await ws.hear_until("started")
        await ws.start("waiting")
        await ws.hear_until("queued")
        for path in ("/generate-stream?prompt=x", "/generate-full?prompt=x"):
            answer = await c.get(path)
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.json()["code"] == "overloaded"


class Loading(ScriptedEngine):
    async def start(self) -> None:
        """Never becomes ready by itself."""


async def test_while_the_model_loads_pages_are_up_and_prompts_are_503():
    engine = Loading(WORDS)
    async with run_server(engine) as s, client(s.url) as c:
        assert (await c.get("/healthz")).status_code == 200
        ready = await c.get("/readyz")
        assert ready.status_code == 503 and ready.json()["state"] == "loading"
        answer = await c.get("/generate-full?prompt=x")
        assert (answer.status_code, answer.json()["code"]) == (503, "engine_loading")
        await ScriptedEngine.start(engine)
        ready = await c.get("/readyz")
        assert ready.status_code == 200 and ready.json()["model"]["name"] == "scripted"
        assert (await c.get("/generate-full?prompt=x")).json()["text"] == TEXT


async def test_an_engine_that_fails_on_the_way_is_an_honest_end_on_every_wire():
    async with run_server(ScriptedEngine(WORDS, fail_at=2)) as s, client(s.url) as c:
        events = sse_events((await c.post("/api/replies", json=BODY, headers=SSE)).text)
        assert [e["type"] for e in events][-3:] == ["delta", "delta", "error"]
        assert events[-1]["code"] == "engine_error"
        whole = await c.post("/api/replies", json=BODY)
        assert (whole.status_code, whole.json()["code"]) == (500, "engine_error")
        # Plain text has no words for it: its end is missing.
        text = ""
        with pytest.raises(httpx.RemoteProtocolError):
            async with c.stream("GET", "/generate-stream?prompt=x") as answer:
                async for chunk in answer.aiter_text():
                    text += chunk
        assert text == "One two"


async def test_a_silent_stream_gives_a_sign_of_life():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, heartbeat_s=0.1) as s, raw(s.port) as c:
        await c.send(http_request("POST", "/api/replies", BODY, accept="text/event-stream"))
        data = await c.read_until(b'"type":"ping"')
        assert b'\r\ndata: {"type":"ping","t":' in data


async def test_a_connection_serves_one_request_after_the_other():
    async with run_server(ScriptedEngine(WORDS)) as s, raw(s.port) as c:
        for _ in range(3):
            await c.send(http_request("GET", "/generate-stream?prompt=x"))
            await c.read_until(b"\r\n0\r\n\r\n")
        await c.send(http_request("GET", "/healthz"))
        await c.read_until(b"alive")


@pytest.mark.parametrize("accept", ["text/event-stream", "application/x-ndjson"])
async def test_the_probe_ticks_in_its_rhythm(accept):
    async with run_server() as s, client(s.url) as c:
        arrivals: list[float] = []
        clock = asyncio.get_running_loop().time
        async with c.stream("GET", "/api/probe?ticks=4&every_ms=50", headers={"accept": accept}) as answer:
            async for line in answer.aiter_lines():
                if line:
                    arrivals.append(clock())
                    tick = json.loads(line.removeprefix("data: "))
                    assert tick["n"] == len(arrivals) and tick["of"] == 4
        assert len(arrivals) == 4 and arrivals[-1] - arrivals[0] > 0.1


async def test_a_foreign_page_and_a_foreign_name_are_refused():
    async with run_server() as s, client(s.url) as c:
        answer = await c.post("/api/replies", json=BODY, headers={"origin": "http://evil.com"})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        answer = await c.get("/", headers={"host": "evil.com"})
        assert (answer.status_code, answer.json()["param"]) == (400, "Host")
        answer = await c.post("/v1/messages", json={}, headers={"host": "evil.com"})
        assert answer.json()["error"]["type"] == "invalid_request_error"


async def test_with_a_key_programs_need_it():
    async with run_server(ScriptedEngine(WORDS), api_key="sesame") as s, client(s.url) as c:
        for path in ("/v1/models", "/generate-full?prompt=x"):
            refused = await c.get(path)
            assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
            assert (await c.get(path, headers={"authorization": "Bearer sesame"})).status_code == 200
        own = await c.post("/api/replies", json=BODY, headers={"origin": s.url})
        assert own.json()["text"] == TEXT
