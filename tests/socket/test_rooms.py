"""A lesson on real sockets: teacher, wall and phones at once, from the QR code to the export."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import time
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest
from websockets.asyncio.client import connect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.server import run_server, until
from tests.socket.room_clients import RoomSocket, classroom

WORDS = spoken("One two three four five six seven eight.", 5.0)
TEXT = "One two three four five six seven eight."
PLAN = {
    "prompt": "Count.",
    "lanes": [{"pace": "token", "label": "Streamed"}, {"pace": "whole", "label": "At once"}],
}


async def watch_to_the_end(*sockets: RoomSocket) -> None:
    for socket in sockets:
        await socket.until(lambda s: set(s.ends) == {"a", "b"})


async def report(phone: RoomSocket, hidden: bool = False) -> None:
    """Say that everything was painted as planned."""
    round = phone.room["round"]
    await phone.until(lambda s: len((s.room["round"]["stimulus"] or {}).get("first_text_ms", {})) == 2)
    stimulus = phone.room["round"]["stimulus"]
    await phone.say(
        "seen", round=round["id"], stimulus=stimulus["id"],
        first_paint_ms={lane: ms + 30 for lane, ms in stimulus["first_text_ms"].items()}, hidden=hidden,
    )  # fmt: skip


async def test_a_whole_round_with_teacher_wall_and_three_phones():
    async with (
        run_server(ScriptedEngine(WORDS)) as s,
        classroom(s, "Physics") as room,
        AsyncExitStack() as stack,
    ):
        teacher = await stack.enter_async_context(room.teacher())
        wall = await stack.enter_async_context(room.wall())
        phones = [await stack.enter_async_context(room.phone()) for _ in range(3)]
        everybody = [teacher, wall, *phones]
        assert teacher.room["title"] == "Physics"
        await wall.until(lambda w: w.room["count"] == 3)

        await teacher.say("open_round", plan=PLAN)
        for socket in everybody:
            await socket.phase("predict")
        round_id = teacher.room["round"]["id"]
        await phones[0].say("vote", round=round_id, ballot="predict", choice="a")
        await phones[0].until(lambda p: (p.me["card"] or {}).get("predict") == "a")

        await teacher.go("watch")
        await watch_to_the_end(*everybody)
        assert all(socket.text == {"a": TEXT, "b": TEXT} for socket in everybody)
        assert all(socket.ends == {"a": "stop", "b": "stop"} for socket in everybody)

        for phone in phones:
            await report(phone, hidden=phone is phones[2])
        await teacher.go("vote")
        for phone in phones:
            await phone.phase("vote")
            assert phone.me["card"]["order"] in ("ab", "ba") and phone.me["watcher"]
            first_is_a = phone.me["card"]["order"] == "ab"
            await phone.say("vote", round=round_id, ballot="vote", choice="2" if first_is_a else "1")
            await phone.say("vote", round=round_id, ballot="vote", choice="1" if first_is_a else "2")
            await phone.say("felt", round=round_id, first_s=1.5, second_s=3.0)
        await wall.until(lambda w: w.room["round"]["voted"] == 3)
        assert not any(
            "results" in frame.get("round", {}) or {} for frame in wall.frames if frame.get("round")
        )

        await teacher.go("reveal")
        await wall.phase("reveal")
        results = wall.room["round"]["results"]
        assert results["lanes"] == {"a": 2, "b": 0, "same": 0}
        assert results["excluded"]["hidden"] == 1
        assert results["verdict"] == "too_few" and "2 of 2" in results["sentence"]

        await teacher.go("discuss")
        await teacher.go("vote")
        await phones[1].phase("vote")
        await phones[1].say("vote", round=round_id, ballot="revote", choice="same")
        await wall.until(lambda w: w.room["round"]["voted"] == 1)
        await teacher.go("reveal")
        assert teacher.room["round"]["revote_results"]["lanes"]["same"] == 1
        await teacher.go("idle")

        response = await room.teacher_http.get(f"/api/rooms/{room.code}/export.csv")
        rows = list(csv.DictReader(io.StringIO(response.text)))
        assert [row["vote_lane"] for row in rows] == ["a", "a", "a"]
        assert [row["hidden"] for row in rows] == ["no", "no", "yes"]


async def test_who_comes_late_sees_everything_but_may_not_vote_and_who_comes_back_may():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, classroom(s) as room, room.teacher() as teacher:
        joined = await room.join()
        async with room.phone(joined["id"]) as early:
            await teacher.until(lambda t: t.room["count"] == 1)
            await teacher.say("open_round", plan=PLAN)
            await teacher.phase("predict")
            await teacher.go("watch")
            await until(lambda: s.replies.running())
            for _ in range(3):
                engine.step()
            await early.until(lambda p: p.text["a"] == "One two three")
        async with room.phone() as late, room.phone(joined["id"]) as back:
            await late.until(lambda p: p.text["a"] == "One two three")
            await back.until(lambda p: p.text["a"] == "One two three")
            assert back.me["number"] == joined["number"]
            for _ in range(10):
                engine.step()
            await watch_to_the_end(late, back)
            assert late.text == back.text == {"a": TEXT, "b": TEXT}
            await teacher.go("vote")
            round_id = teacher.room["round"]["id"]
            await late.say("vote", round=round_id, ballot="vote", choice="1")
            refused = await late.hear_type("error")
            assert "next round is yours" in refused["message"]
            await back.say("vote", round=round_id, ballot="vote", choice="1")
            await back.until(lambda p: p.me["card"].get("vote") == "1")
            await teacher.until(lambda t: t.room["round"]["voted"] == 1)


async def test_a_second_tab_of_a_phone_replaces_the_first():
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room:
        id = (await room.join())["id"]
        async with room.phone(id) as first, room.phone(id) as second:
            assert await first.closed() == 4409
            await second.say("nickname")
            await second.until(lambda p: p.me["nickname"])


async def test_everybody_sends_at_once_and_each_phone_reads_its_own_answer():
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room, AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(room.teacher())
        phones = [await stack.enter_async_context(room.phone()) for _ in range(3)]
        await teacher.until(lambda t: t.room["count"] == 3)
        await teacher.say("open_sending", plan={"mode": "batched"})
        for number, phone in enumerate(phones):
            await phone.phase("collect")
            await phone.say("ask", text=f"Question {number}")
        await teacher.until(lambda t: t.room["sending"]["num_prompts"] == 3)
        await teacher.go("sending")
        for phone in phones:
            await phone.until(lambda p: p.me["sending"] and p.me["sending"].get("reply"))
            reply = s.replies.get(phone.me["sending"]["reply"])
            assert reply.prompt.messages[0].content == phone.me["sending"]["prompt"]
            await phone.say("measured", reply=reply.id, first_word_ms=40.0)
        await teacher.until(lambda t: t.room["sending"]["num_measured"] == 3)
        await teacher.until(lambda t: all(pair[1] is not None for pair in t.room["sending"]["distribution"]))
        assert [pair[0] for pair in teacher.room["sending"]["distribution"]] == [40.0] * 3
        await phones[0].say("measured", reply=phones[1].me["sending"]["reply"], first_word_ms=1.0)
        assert (await phones[0].hear_type("error"))["message"] == "that reply is not yours"


def heard_of(num_begun: int, phone: RoomSocket) -> bool:
    """Whether a phone has heard that so many answers have been started."""
    return any(frame["type"] == "line" and frame["begun"] == num_begun for frame in phone.frames)


async def test_one_at_a_time_begins_each_answer_when_the_last_has_ended():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, classroom(s) as room, AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(room.teacher())
        phones = [await stack.enter_async_context(room.phone()) for _ in range(3)]
        await teacher.until(lambda t: t.room["count"] == 3)
        await teacher.say("open_sending", plan={"mode": "one_at_a_time", "prompt": "Count."})
        await teacher.phase("collect")
        await teacher.go("sending")
        for num_begun in (1, 2, 3):
            await phones[0].until(partial(heard_of, num_begun))
            assert len(s.replies.running()) == 1
            for _ in range(len(WORDS)):
                engine.step()
        await phones[0].until(lambda p: any(f["type"] == "line" and f["ended"] == 3 for f in p.frames))
        for phone in phones:
            await phone.until(lambda p: p.me["sending"]["place"] is not None)
        assert [phone.me["sending"]["place"] for phone in phones] == [0, 1, 2]


async def test_each_phone_measures_its_own_first_word_in_its_own_time():
    engine = ScriptedEngine(WORDS, manual=True)
    async with (
        run_server(engine) as s,
        classroom(s) as room,
        room.teacher() as teacher,
        room.phone() as phone,
        connect(f"{s.url.replace('http', 'ws', 1)}/ws") as chat,
    ):
        await teacher.say("open_sending", plan={"mode": "own_time", "prompt": "Count."})
        await teacher.phase("collect")
        await teacher.go("sending")
        await phone.phase("sending")
        await phone.say("send_own")
        await phone.until(lambda p: p.me["sending"]["reply"])
        reply = phone.me["sending"]["reply"]
        await phone.say("send_own")
        assert "not over yet" in (await phone.hear_type("error"))["message"]
        assert len(s.replies.running()) == 1, "one in flight a phone"
        await chat.send(json.dumps({"type": "attach", "reply": reply, "pace": "token"}))
        while s.replies.running():
            engine.step()
            await asyncio.sleep(0)
        await phone.until(lambda p: not p.me["sending"]["running"])
        heard: list[dict[str, Any]] = []
        while not heard or heard[-1]["type"] != "done":
            heard.append(json.loads(await chat.recv()))
        assert "".join(event.get("text", "") for event in heard) == TEXT
        await phone.say("measured", reply=reply, first_word_ms=80_000.0)
        await teacher.until(lambda t: t.room["sending"]["num_measured"] == 1)
        total, server = teacher.room["sending"]["distribution"][0]
        assert total == 80_000.0 and 0 < server < 80_000.0
        await phone.say("send_own")
        await phone.until(lambda p: p.me["sending"]["reply"] not in (None, reply))


async def test_a_frozen_stimulus_stands_is_stepped_and_goes_on():
    """Everything has been made long before; the playhead alone decides what is seen."""
    async with (
        run_server(ScriptedEngine(spoken(TEXT, 60.0))) as s,
        classroom(s) as room,
        room.teacher() as teacher,
        room.phone() as phone,
    ):
        await teacher.say("open_round", plan=PLAN)
        await teacher.phase("predict")
        await teacher.say("speed", speed=0.5)
        await teacher.go("watch")
        await phone.until(lambda p: p.seq["a"] >= 2)
        await teacher.say("hold", freeze=True)
        await teacher.until(lambda t: t.room["round"]["stimulus"]["playhead"]["speed"] == 0)
        stood_at = teacher.seq["a"]
        await until(lambda: not s.replies.running())
        await teacher.say("ping")
        await teacher.hear_type("pong")
        assert teacher.seq["a"] == stood_at and not teacher.ends
        before_ms = teacher.room["round"]["stimulus"]["playhead"]["at_ms"]
        await teacher.say("step")
        await phone.until(lambda p: p.seq["a"] == stood_at + 1)
        await teacher.until(lambda t: t.room["round"]["stimulus"]["playhead"]["at_ms"] > before_ms)
        await teacher.say("speed", speed=1)
        await teacher.say("hold", freeze=False)
        await watch_to_the_end(phone)
        assert phone.text == {"a": TEXT, "b": TEXT}
        assert phone.room["round"]["stimulus"]["altered"] is True


async def test_lanes_over_a_poller_and_a_proxy_come_late_and_whole():
    plan = {
        **PLAN,
        "lanes": [{"every_ms": 100}, {"link": {"flush_bytes": 65_536, "flush_ms": 20}, "label": "Proxy"}],
    }
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room, room.teacher() as teacher:
        await teacher.say("open_round", plan=plan)
        await teacher.phase("predict")
        await teacher.go("watch")
        await watch_to_the_end(teacher)
        assert teacher.text == {"a": TEXT, "b": TEXT}
        texts = [frame for frame in teacher.frames if frame["type"] == "text"]
        assert all(frame["t"] % 100 == 0 for frame in texts if frame["lane"] == "a")
        proxied = [frame["t"] for frame in texts if frame["lane"] == "b"]
        pieces = sum(frame["pieces"] for frame in texts if frame["lane"] == "b")
        assert proxied[0] >= 20 and len(set(proxied)) < pieces, "in bursts"


async def test_a_vote_closes_by_the_rule_that_was_set_before_it():
    async with (
        run_server(ScriptedEngine(WORDS)) as s,
        classroom(s) as room,
        room.teacher() as teacher,
        room.phone() as phone,
    ):
        await teacher.until(lambda t: t.room["count"] == 1)
        plan = {**PLAN, "mirror": False, "closes": "clock", "close_s": 5}
        await teacher.say("open_round", plan=plan)
        await teacher.phase("predict")
        await teacher.go("watch")
        await teacher.until(lambda t: t.room["round"]["stimulus"]["state"] == "ended")
        await teacher.go("vote")
        await teacher.until(lambda t: t.room["round"]["closes_ms"])
        closes_ms = teacher.room["round"]["closes_ms"]
        await phone.phase("vote")
        await phone.say("vote", round=phone.room["round"]["id"], ballot="vote", choice="2")
        await teacher.phase("reveal")
        await teacher.say("ping")
        pong = await teacher.hear_type("pong")
        assert pong["t"] >= closes_ms and teacher.room["round"]["results"]["lanes"]["b"] == 1


async def test_a_late_phone_has_the_state_of_now_within_a_second():
    async with (
        run_server(ScriptedEngine(spoken("word " * 300, 5.0))) as s,
        classroom(s) as room,
        room.teacher() as teacher,
    ):
        for phase in ("predict", "watch"):
            if phase == "predict":
                await teacher.say("open_round", plan={**PLAN, "max_tokens": 300})
                await teacher.phase("predict")
            else:
                await teacher.go("watch")
                await teacher.until(lambda t: t.seq["a"] > 20)
            began_ns = time.monotonic_ns()
            async with room.phone() as late:
                assert late.room["phase"] == phase and late.me["number"] and not late.me["watcher"]
                if phase == "watch":
                    await late.until(lambda p: p.seq["a"] > 20)
                assert (time.monotonic_ns() - began_ns) / 1e9 < 1.0


async def test_two_consoles_lead_one_room_and_both_see_what_either_did():
    async with (
        run_server(ScriptedEngine(WORDS)) as s,
        classroom(s) as room,
        room.teacher() as desk,
        room.teacher() as pad,
        room.phone() as phone,
    ):
        await desk.say("open_round", plan=PLAN)
        await pad.phase("predict")
        # Both press the same button, each from what is on its own screen: one step, not two.
        for console in (desk, pad):
            await console.phase("predict")
            await console.say("advance", to="watch", since="predict")
        await phone.phase("watch")
        await pad.until(lambda p: p.room["round"]["stimulus"])
        assert len(s.replies.running()) <= 1
        await desk.connection.close()
        await pad.say("hold", blank=True)
        await phone.until(lambda p: p.room["blank"])
        assert phone.room["host_online"] is True, "one teacher is still there"


async def test_the_batch_of_the_engine_comes_to_the_wall():
    async with (
        run_server(ScriptedEngine(WORDS)) as s,
        classroom(s) as room,
        room.teacher() as teacher,
        room.wall() as wall,
    ):
        await teacher.say("open_round", plan=PLAN)
        await teacher.phase("predict")
        await teacher.go("watch")
        step = await wall.hear_type("engine")
        assert step["batch"] == 1 and step["waiting"] == 0


async def test_a_recording_can_be_the_stimulus():
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room, room.teacher() as teacher:
        cards = (await room.teacher_http.get("/api/recordings")).json()["recordings"]
        await teacher.say("open_round", plan={"recording": cards[0]["id"]})
        await teacher.phase("predict")
        await teacher.go("watch")
        await teacher.until(lambda t: t.text["a"])
        await teacher.go("idle")
        await teacher.say("open_round", plan={"recording": "nobody"})
        await teacher.phase("predict")
        await teacher.go("watch")
        await teacher.until(lambda t: (t.room["round"]["stimulus"] or {}).get("state") == "failed")


async def test_kicked_is_not_banned():
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room, room.teacher() as teacher:
        joined = await room.join()
        async with room.phone(joined["id"]) as phone:
            await teacher.say("kick", number=joined["number"])
            assert await phone.closed() == 4403
        assert (await room.join(joined["id"]))["number"] != joined["number"]


async def test_a_deleted_room_is_gone_for_everybody():
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room:
        async with room.teacher() as teacher, room.phone() as phone:
            response = await room.teacher_http.delete(f"/api/rooms/{room.code}")
            assert response.status_code == 204
            assert await phone.closed() == 4404 and await teacher.closed() == 4404
        assert (await room.teacher_http.get(f"/api/rooms/{room.code}")).status_code == 404
        async with connect(room.url) as connection:
            assert await RoomSocket(connection).closed() == 4404


async def test_who_comes_in_while_the_room_is_deleted_is_told_so():
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room:
        id = (await room.join())["id"]
        async with connect(room.url) as connection:
            # The room was found before this was answered; then it goes.
            await (await connection.ping())
            await room.teacher_http.delete(f"/api/rooms/{room.code}")
            socket = RoomSocket(connection)
            await socket.say("hello", role="participant", id=id)
            assert (await socket.hear())["code"] == "not_found"
            assert await socket.closed() == 4404


async def test_a_closed_room_is_ended_for_phones_and_its_results_can_still_be_had():
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room:
        async with room.teacher() as teacher, room.phone() as phone:
            await teacher.say("close_room")
            await phone.until(lambda p: p.room["closed"])
        assert (await room.teacher_http.get(f"/api/rooms/{room.code}/export.json")).status_code == 200
        response = await room.teacher_http.post(f"/api/rooms/{room.code}/participants", json={})
        assert response.status_code == 404


async def test_pings_give_the_clock_of_the_server():
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room, room.phone() as phone:
        await phone.say("ping", t=12.5)
        first = await phone.hear_type("pong")
        await phone.say("ping", t=13.5)
        second = await phone.hear_type("pong")
        assert (first["echo"], second["echo"]) == (12.5, 13.5)
        assert second["t"] >= first["t"] >= 0


BAD = [
    "{",
    "[]",
    "5",
    '{"type": 5}',
    '{"type": "sing"}',
    b"\x00",
    '{"type": "joined", "key": "x"}',
    '{"type": "vote", "round": 1, "ballot": "vote", "choice": "3"}',
    "[" * 16_000,
    "x" * 20_000,
]


@pytest.mark.parametrize("said", BAD)
async def test_what_cannot_be_read_gets_one_error_and_the_socket_stays(said):
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room, room.phone() as phone:
        await phone.connection.send(said)
        assert (await phone.hear_type("error"))["code"] == "invalid_request"
        await phone.say("nickname")
        await phone.until(lambda p: p.me["nickname"])


async def test_three_hundred_votes_from_one_address_in_a_moment_all_count():
    """A class shares one address: what it says is never limited by it."""
    async with run_server(ScriptedEngine(WORDS)) as s, classroom(s) as room, AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(room.teacher())
        stage = s.app.state.rooms.find(room.code)
        ids = [stage.admit(None)[1] for _ in range(300)]

        async def enter(id: str) -> RoomSocket:
            return await stack.enter_async_context(room.phone(id))

        phones = []
        for start in range(0, 300, 25):
            phones += await asyncio.gather(*[enter(id) for id in ids[start : start + 25]])
        await teacher.until(lambda t: t.room["count"] == 300)
        await teacher.say("open_round", plan={**PLAN, "mirror": False, "ask_felt": False})
        await teacher.phase("predict")
        await teacher.go("watch")
        await teacher.until(lambda t: (t.room["round"]["stimulus"] or {}).get("state") == "ended")
        await teacher.go("vote")
        round_id = teacher.room["round"]["id"]
        votes = [
            p.say("vote", round=round_id, ballot="vote", choice="1" if n % 3 else "2")
            for n, p in enumerate(phones)
        ]
        await asyncio.gather(*votes)
        await teacher.until(lambda t: t.room["round"]["voted"] == 300)
        await teacher.go("reveal")
        assert teacher.room["round"]["results"]["lanes"] == {"a": 200, "b": 100, "same": 0}
