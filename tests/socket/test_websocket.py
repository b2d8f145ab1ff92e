"""The WebSocket, on real sockets."""

import json
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.engine.scripted import ScriptedEngine
from tests.server import run_server, until
from tests.socket.clients import HELLO, Raw, raw, talk

WORDS = [(b"One", 0.0), (b" two", 0.0), (b" three", 0.0), (b".", 0.0)]


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def text(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "delta")


async def test_a_reply_is_told_from_the_line_to_the_end():
    async with run_server(ScriptedEngine(WORDS)) as s, talk(s.ws) as ws:
        await ws.start("a")
        events = await ws.hear_until("done")
    assert kinds(events) == ["queued", "started", *["delta"] * 4, "done"]
    assert text(events) == "One two three."
    assert [e["seq"] for e in events if e["type"] == "delta"] == [1, 2, 3, 4]
    assert all(e["id"] == "a" for e in events if e["type"] in ("queued", "started", "done"))
    assert len({e["reply"] for e in events}) == 1
    assert events[-1]["usage"] == {
        "prompt_tokens": 1, "completion_tokens": 4, "total_tokens": 5, "cached_tokens": 0,
    }  # fmt: skip
    assert [e["t"] for e in events] == sorted(e["t"] for e in events)


async def test_whole_is_exactly_one_delta_just_before_the_end():
    async with run_server(ScriptedEngine(WORDS)) as s, talk(s.ws) as ws:
        await ws.start(pace="whole")
        events = await ws.hear_until("done")
    assert kinds(events) == ["queued", "started", "delta", "done"]
    assert events[2]["text"] == "One two three." and events[2]["tokens"] == 4


async def test_the_first_words_come_while_the_rest_is_not_made_yet():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, talk(s.ws) as ws:
        await ws.start()
        await until(lambda: s.replies.running())
        engine.step()
        events = await ws.hear_until("delta")
        assert events[-1]["text"] == "One"
        assert sum(engine.made.values()) == 1
        for _ in range(3):
            engine.step()
        await ws.hear_until("done")


BAD: list[tuple[str | bytes, str | None]] = [
    ("{", None),
    ("", None),
    ("[]", None),
    ("5", None),
    ("[" * 30_000, None),
    (b"\x00\x01", None),
    ("{}", "type"),
    ('{"type": 5}', "type"),
    ('{"type": "sing"}', "type"),
    ('{"type": "start"}', "id"),
    ('{"type": "start", "id": "a"}', "messages"),
    ('{"type": "start", "id": "", "messages": [{"role": "user", "content": "x"}]}', "id"),
    ('{"type": "start", "id": "\\ud800", "messages": [{"role": "user", "content": "x"}]}', "id"),
    ('{"type": "attach"}', "reply"),
    ('{"type": "attach", "reply": "nobody"}', "reply"),
    ('{"type": "attach", "reply": "nobody", "after": -1}', "after"),
    ('{"type": "stop"}', "reply"),
    ('{"type": "stop", "reply": "\\ud800"}', "reply"),
    ('{"type": "ack", "reply": "x"}', "seq"),
    ('{"type": "ack", "reply": "x", "seq": "y"}', "seq"),
    ('{"type": "ping", "t": NaN}', "t"),
]
BAD_FIELDS: list[tuple[str, Any, str]] = [
    ("messages", [], "messages"),
    ("messages", [{"role": "user", "content": "  "}], "messages[0].content"),
    ("temperature", float("nan"), "temperature"),
    ("temperature", 3, "temperature"),
    ("max_tokens", 0, "max_tokens"),
    ("max_tokens", 1025, "max_tokens"),
    ("pace", "slow", "pace"),
    ("acks", 1, "acks"),
    ("await_readers", -1, "await_readers"),
    ("slow_policy", "wait", "slow_policy"),
    ("link", "3g", "link"),
    ("temprature", 1, "temprature"),
]


async def test_bad_input_gets_one_error_naming_the_field_and_nothing_is_started():
    cases = BAD + [
        (json.dumps({"type": "start", "id": "a", "messages": HELLO, name: value}), param)
        for name, value, param in BAD_FIELDS
    ]
    async with run_server(ScriptedEngine(WORDS)) as s, talk(s.ws) as ws:
        for frame, param in cases:
            await ws.connection.send(frame)
            event = await ws.hear()
            assert event["type"] == "error", frame
            assert event.get("param") == param, frame
            assert event["message"] and event["retryable"] is False
        assert len(s.replies) == 0
        await ws.start("well")
        assert text(await ws.hear_until("done")) == "One two three."


async def test_an_error_names_the_clients_own_id():
    async with run_server(ScriptedEngine(WORDS, context_tokens=4)) as s, talk(s.ws) as ws:
        await ws.start("mine", max_tokens=0)
        assert (await ws.hear())["id"] == "mine"
        await ws.start("long", messages=[{"role": "user", "content": "a b c d e f"}])
        event = await ws.hear()
        assert (event["id"], event["code"], event["param"]) == ("long", "prompt_too_long", "messages")
        assert "6 tokens" in event["message"] and "4" in event["message"]
        await ws.say("attach", reply="nobody")
        assert (await ws.hear())["reply"] == "nobody"


async def test_stop_works_from_another_socket_while_still_in_line():
    engine = ScriptedEngine(WORDS, slots=1, manual=True)
    async with run_server(engine) as s, talk(s.ws) as first, talk(s.ws) as second:
        await first.start("a-name-nobody-guesses")
        await first.hear_until("started")
        await second.start("b")
        queued = (await second.hear_until("queued"))[-1]
        await first.say("stop", reply=queued["reply"])
        done = (await second.hear_until("done"))[-1]
        assert (done["finish_reason"], done["timings"]["first_token_ms"]) == ("cancelled", None)
        assert engine.made[queued["reply"]] == 0
        await second.say("stop", reply="a-name-nobody-guesses")
        assert (await first.hear_until("done"))[-1]["finish_reason"] == "cancelled"


async def test_acks_hold_and_release_the_generation():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, high_tokens=4, low_tokens=1) as s, talk(s.ws) as ws:
        await ws.start(acks=True, ignore_eos=True, max_tokens=20)
        reply = (await ws.hear_until("started"))[-1]["reply"]
        for _ in range(10):
            engine.step()
        events = await ws.hear_until("paused")
        assert engine.made[reply] == 4 and kinds(events) == ["delta"] * 4 + ["paused"]
        await ws.say("ack", reply=reply, seq=2)
        await ws.say("ack", reply="unknown", seq=2)
        await ws.say("ping", t=1)
        assert (await ws.hear())["type"] == "pong"
        engine.step()
        assert engine.made[reply] == 4, "two are unread, which is over the low mark"
        await ws.say("ack", reply=reply, seq=3)
        await ws.hear_until("resumed")
        for _ in range(10):
            engine.step()
        await ws.hear_until("paused")
        assert engine.made[reply] == 7
        await ws.say("stop", reply=reply)
        assert (await ws.hear_until("done"))[-1]["usage"]["completion_tokens"] == 7


async def test_two_replies_share_one_socket():
    async with run_server(ScriptedEngine([(b"x ", 1.0)] * 20)) as s, talk(s.ws) as ws:
        await ws.start("a")
        await ws.start("b", pace="whole")
        events: list[dict[str, Any]] = []
        while kinds(events).count("done") < 2:
            events.append(await ws.hear())
    replies = {e["id"]: e["reply"] for e in events if e["type"] == "queued"}
    for id, pieces in (("a", 20), ("b", 1)):
        mine = [e for e in events if e["reply"] == replies[id]]
        assert text(mine) == "x " * 20 and kinds(mine).count("delta") == pieces


async def test_start_is_idempotent_by_id():
    engine = ScriptedEngine(WORDS)
    async with run_server(engine) as s, talk(s.ws) as ws:
        await ws.start("a")
        first = await ws.hear_until("done")
        async with talk(s.ws) as again:
            await again.start("a")
            second = await again.hear_until("done")
        assert first[-1] == second[-1] and text(first) == text(second)
        assert list(engine.made.values()) == [4]


async def test_a_held_generation_begins_when_all_its_readers_are_there():
    engine = ScriptedEngine(WORDS)
    async with run_server(engine) as s, talk(s.ws) as streamed, talk(s.ws) as whole:
        await streamed.start("race-4f81c2d90b7e", await_readers=2)
        await streamed.say("ping")
        assert kinds([await streamed.hear()]) == ["pong"]
        assert not engine.made
        await whole.say("attach", reply="race-4f81c2d90b7e", pace="whole")
        one, other = await streamed.hear_until("done"), await whole.hear_until("done")
        assert text(one) == text(other) and one[-1] == other[-1]
        assert len(engine.made) == 1


async def test_readers_who_do_not_come_end_the_wait_with_an_error():
    async with run_server(ScriptedEngine(WORDS), await_readers_s=0.1) as s, talk(s.ws) as ws:
        await ws.start("race", await_readers=2)
        event = await ws.hear()
        assert (event["type"], event["param"], event["id"]) == ("error", "await_readers", "race")


async def test_a_silent_socket_is_told_that_we_are_there():
    async with run_server(ScriptedEngine(WORDS), heartbeat_s=0.1) as s, talk(s.ws) as ws:
        assert kinds([await ws.hear(), await ws.hear()]) == ["ping", "ping"]


async def test_a_ping_is_answered_with_both_clocks():
    async with run_server() as s, talk(s.ws) as ws:
        await ws.say("ping", t=12.5)
        event = await ws.hear()
        assert event["type"] == "pong" and event["echo"] == 12.5 and event["t"] > 0


async def test_too_many_messages_are_refused_and_then_end_the_socket():
    async with run_server(ws_messages_per_minute=3) as s, talk(s.ws) as ws:
        for _ in range(3):
            await ws.say("stop", reply="x")
            assert (await ws.hear())["code"] == "not_found"
        await ws.say("ping")
        assert (await ws.hear())["type"] == "pong"
        num_told = 0
        with pytest.raises(ConnectionClosed) as closed:
            for _ in range(50):
                await ws.connection.send("not even JSON")
                assert (await ws.hear())["code"] == "rate_limited"
                num_told += 1
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4429
        assert num_told == 11, "the last one is told, too"


async def test_a_flood_hears_every_refusal_and_leaves_nothing_in_the_log(capsys):
    async with run_server(ws_messages_per_minute=3) as s, talk(s.ws) as ws:
        for _ in range(3 + 11):
            await ws.say("stop", reply="x")
        codes = [(await ws.hear())["code"] for _ in range(3 + 11)]
        assert codes == ["not_found"] * 3 + ["rate_limited"] * 11
        with pytest.raises(ConnectionClosed):
            await ws.hear()
        assert ws.connection.close_code == 4429
    assert capsys.readouterr().err == ""


async def test_a_message_over_the_limit_closes_with_1009():
    async with run_server(ScriptedEngine(WORDS), ws_max_bytes=2000) as s, talk(s.ws) as ws:
        await ws.start(messages=[{"role": "user", "content": "x" * 1500}])
        await ws.hear_until("done")
        await ws.connection.send("x" * 2001)
        with pytest.raises(ConnectionClosed) as closed:
            await ws.hear()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009


async def test_a_disconnect_is_not_a_stop():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s:
        async with talk(s.ws) as ws:
            await ws.start("a")
            await until(lambda: s.replies.running())
            engine.step()
            reply = (await ws.hear_until("delta"))[-1]["reply"]
        await until(lambda: not s.replies.has_readers())
        engine.step()
        async with talk(s.ws) as ws:
            await ws.say("attach", reply=reply, after=1)
            events = await ws.hear_until("delta")
            assert events[0]["recovered"] is True
            engine.step()
            engine.step()
            assert text(events + await ws.hear_until("done")) == " two three."


async def test_one_socket_reads_so_many_replies_and_no_more():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, ws_replies=2) as s, talk(s.ws) as ws:
        for id in ("a", "b"):
            await ws.start(id)
            await ws.hear_until("queued")
        await ws.start("c")
        error = (await ws.hear_until("error"))[-1]
        assert (error["code"], error["id"], error["retryable"]) == ("overloaded", "c", True)
        assert len(s.replies) == 2


async def test_attaching_again_on_the_same_socket_reads_anew():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, talk(s.ws) as ws:
        await ws.start("a")
        await until(lambda: s.replies.running())
        engine.step()
        reply = (await ws.hear_until("delta"))[-1]["reply"]
        await ws.say("attach", reply=reply, pace="whole")
        await ws.hear_until("started")
        for _ in range(3):
            engine.step()
        events = await ws.hear_until("done")
        assert kinds(events) == ["delta", "done"] and text(events) == "One two three."


async def test_a_full_line_at_the_door_is_said_at_once():
    engine = ScriptedEngine(WORDS, slots=1, manual=True)
    async with run_server(engine, max_waiting=1) as s, talk(s.ws) as ws:
        await ws.start("running")
        await ws.hear_until("started")
        await ws.start("waiting")
        await ws.hear_until("queued")
        await ws.start("refused")
        error = await ws.hear()
        assert (error["code"], error["id"], error["retryable"]) == ("overloaded", "refused", True)


async def test_a_lost_engine_ends_the_reply_and_leaves_the_socket():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, talk(s.ws) as ws:
        await ws.start("a")
        await until(lambda: s.replies.running())
        engine.step()
        engine.lose()
        events = await ws.hear_until("error")
        assert text(events) == "One"
        assert (events[-1]["code"], events[-1]["id"], events[-1]["retryable"]) == ("engine_lost", "a", True)
        await ws.start("b")
        assert (await ws.hear())["code"] == "engine_lost"
        engine.recover()
        await ws.start("b")
        await ws.hear_until("started")


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.com"}, {"Origin": "null"}])
async def test_a_page_from_elsewhere_gets_no_socket(headers):
    async with run_server() as s:
        with pytest.raises(InvalidStatus) as refused:
            async with talk(s.ws, additional_headers=headers):
                pass
        assert refused.value.response.status_code == 403
        assert b'"code":"forbidden"' in refused.value.response.body


async def test_our_own_page_gets_a_socket():
    async with run_server() as s, talk(s.ws, origin=s.url) as ws:
        await ws.say("ping")
        assert (await ws.hear())["type"] == "pong"


async def test_compression_is_not_agreed_to():
    async with run_server() as s, talk(s.ws, compression="deflate") as ws:
        assert ws.connection.response is not None
        assert "Sec-WebSocket-Extensions" not in ws.connection.response.headers


async def shake_hands(client: Raw) -> None:
    await client.send(
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    )
    assert b" 101 " in await client.read_until(b"\r\n\r\n")


def frame(first: int, payload: bytes = b"") -> bytes:
    """A client's frame, masked with zeros, which leaves it as it is."""
    assert len(payload) < 126
    return bytes([first, 0x80 | len(payload)]) + b"\0\0\0\0" + payload


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(0x01, b'{"type":') + frame(0x00) * 1100, 1009),
        (frame(0x81, b"\xff\xfe"), 1007),
        (frame(0xF1, b"x"), 1002),
        (frame(0x83, b"x"), 1002),
        (b"\x81\x01x", 1002),
        (frame(0x88, b"\x00\x01"), 1002),
        (bytes([0x81, 0xFF]) + (1 << 30).to_bytes(8, "big") + b"\0\0\0\0", 1009),
    ],
    ids=["fragments", "utf-8", "rsv", "opcode", "unmasked", "close code", "declared 1 GiB"],
)
async def test_broken_frames_end_the_socket_with_their_code(data, code):
    async with run_server() as s, raw(s.port) as client, talk(s.ws) as neighbour:
        await shake_hands(client)
        await client.send(data)
        answer = await client.read_all()
        assert code.to_bytes(2, "big") in answer
        await neighbour.say("ping")
        assert (await neighbour.hear())["type"] == "pong"


@pytest.mark.parametrize("data", [frame(0x01, b"{"), b"\x81\x85\0\0\0\0{"], ids=["fragment", "half a frame"])
async def test_a_message_that_is_never_finished_ends_the_socket(data):
    async with run_server(body_s=0.2) as s, raw(s.port) as client:
        await shake_hands(client)
        await client.send(data)
        assert (1008).to_bytes(2, "big") in await client.read_all()
