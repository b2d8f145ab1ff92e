"""What a room survives: a frozen phone, a killed server, a server that is told to go."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.server import Running, run_server, until
from tests.socket.clients import raw
from tests.socket.room_clients import Class, classroom

LONG = spoken("word " * 400, 2.0)
PLAN = {"prompt": "Count.", "max_tokens": 512}


async def test_a_frozen_phone_changes_nobody_and_is_cut_off():
    """It joins with the smallest buffers and reads nothing; the others get everything meanwhile."""
    async with (
        run_server(ScriptedEngine(LONG), send_s=0.5, send_buffer_bytes=4096) as s,
        classroom(s) as room,
    ):
        id = (await room.join())["id"]
        async with (
            room.teacher() as teacher,
            room.phone() as phone,
            raw(s.port, receive_buffer=2048) as frozen,
        ):
            await frozen.send(
                f"GET /ws/rooms/{room.code} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            await frozen.read_until(b"\r\n\r\n")
            hello = json.dumps({"type": "hello", "role": "participant", "id": id}).encode()
            await frozen.send(b"\x81" + bytes([0x80 | len(hello)]) + bytes(4) + hello)
            await teacher.until(lambda t: t.room["count"] == 2)
            await teacher.say("open_round", plan={**PLAN, "prompt": "x" * 2000})
            await teacher.phase("predict")
            await teacher.go("watch")
            # State as large as it gets, again and again: what a frozen phone is not told costs nothing.
            for number in range(60):
                await teacher.say("hold", blank=number % 2 == 0)
            await phone.until(lambda p: set(p.ends) == {"a", "b"})
            assert phone.text["a"] == phone.text["b"] == "word " * 400
            await teacher.until(lambda t: t.room["count"] == 1)


@contextmanager
def server_process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own that keeps its rooms in ``folder``; (process, url)."""
    script = folder / "script.json"
    script.write_text(json.dumps([[f"{n} ", 20] for n in range(200)]))
    command = [
        sys.executable,
        "-m",
        "app",
        "serve",
        "--engine",
        "scripted",
        "--script",
        str(script),
        "--port",
        "0",
    ]
    environment = {**os.environ, "FIRSTWORD_ROOMS_FILE": str(folder / "rooms.sqlite3")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield process, found[0]
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


def class_at(url: str, room: Class) -> Class:
    """The same room, teacher and phones, at a server that has started again on another port."""
    http = httpx.AsyncClient(base_url=url, cookies=room.teacher_http.cookies)
    running = Running(url, int(url.rsplit(":", 1)[1]), None, None)  # type: ignore[arg-type]
    return Class(running, http, {"code": room.code, "wall_token": room.wall_token})


async def test_rooms_votes_and_results_survive_kill_9(tmp_path):
    with server_process(tmp_path) as (first, url):
        server = Running(url, int(url.rsplit(":", 1)[1]), None, None)  # type: ignore[arg-type]
        async with classroom(server, "Physics") as room:
            ids = [(await room.join())["id"] for _ in range(2)]
            async with room.teacher() as teacher, room.phone(ids[0]) as one, room.phone(ids[1]) as two:
                await teacher.until(lambda t: t.room["count"] == 2)
                for round_number in (1, 2):
                    await teacher.say("open_round", plan={**PLAN, "mirror": False, "max_tokens": 5})
                    await teacher.phase("predict")
                    await teacher.go("watch")
                    await teacher.until(lambda t: t.room["round"]["stimulus"]["state"] == "ended")
                    await teacher.go("vote")
                    round_id = teacher.room["round"]["id"]
                    for phone in (one, two):
                        await phone.say("vote", round=round_id, ballot="vote", choice="1")
                    await teacher.until(lambda t: t.room["round"]["voted"] == 2)
                    if round_number == 1:
                        await teacher.go("reveal")
                # The second vote is open: what is older than a second has to be there.
                await asyncio.sleep(1.0)
                await two.say("vote", round=round_id, ballot="vote", choice="2")
                epoch = teacher.room["epoch"]
                first.send_signal(signal.SIGKILL)
    with server_process(tmp_path) as (_, url):
        again = class_at(url, room)
        async with again.teacher() as teacher, again.phone(ids[0]) as one, again.phone(ids[1]):
            assert teacher.room["title"] == "Physics" and teacher.room["epoch"] != epoch
            assert (teacher.room["phase"], teacher.room["round"]["voted"]) == ("vote", 2)
            assert one.me["number"] == 1 and one.me["card"]["vote"] == "1"
            await teacher.go("reveal")
            assert teacher.room["round"]["results"]["ballots"] == 2
            rows = (await again.teacher_http.get(f"/api/rooms/{room.code}/export.csv")).text.splitlines()
            assert len(rows) == 5
        await again.teacher_http.aclose()


async def test_a_stimulus_that_a_restart_cut_off_is_lost_and_can_be_played_again(tmp_path):
    """What is on disk in the middle of it, as a killed server leaves it, is given to another one."""
    before, after = tmp_path / "before.sqlite3", tmp_path / "after.sqlite3"
    engine = ScriptedEngine(LONG, manual=True)
    async with (
        run_server(engine, rooms_file=str(before)) as s,
        classroom(s) as room,
        room.teacher() as teacher,
    ):
        await teacher.say("open_round", plan=PLAN)
        await teacher.phase("predict")
        await teacher.go("watch")
        await until(lambda: s.replies.running())
        engine.step()
        await teacher.until(lambda t: t.text["a"])
        await s.app.state.rooms.flush()
        for file in tmp_path.iterdir():
            shutil.copy(file, str(file).replace("before", "after"))
        epoch = teacher.room["epoch"]
    async with run_server(ScriptedEngine(LONG), rooms_file=str(after)) as s:
        again = class_at(s.url, room)
        async with again.teacher() as teacher:
            assert teacher.room["epoch"] != epoch
            assert teacher.room["round"]["stimulus"]["state"] == "lost" and teacher.text["a"] == ""
            await teacher.say("advance", to="watch", since="watch")
            await teacher.until(lambda t: t.room["round"]["stimulus"]["state"] == "running")
            await teacher.until(lambda t: t.text["a"])
        await again.teacher_http.aclose()


async def test_after_a_restart_who_sends_in_their_own_time_can_send_again(tmp_path):
    path = str(tmp_path / "rooms.sqlite3")
    async with run_server(ScriptedEngine(LONG, manual=True), rooms_file=path) as s, classroom(s) as room:
        id = (await room.join())["id"]
        async with room.teacher() as teacher, room.phone(id) as phone:
            await teacher.say("open_sending", plan={"mode": "own_time", "prompt": "Count."})
            await teacher.phase("collect")
            await teacher.go("sending")
            await phone.phase("sending")
            await phone.say("send_own")
            await phone.until(lambda p: p.me["sending"]["running"])
    async with run_server(ScriptedEngine(LONG), rooms_file=path) as s:
        again = class_at(s.url, room)
        async with again.phone(id) as phone:
            assert phone.me["sending"]["running"] is False
            await phone.say("send_own")
            await phone.until(lambda p: p.me["sending"]["reply"])
            await phone.until(lambda p: not p.me["sending"]["running"])
        await again.teacher_http.aclose()


async def test_a_deleted_room_does_not_come_back_by_the_last_words_of_its_sockets(tmp_path):
    path = tmp_path / "rooms.sqlite3"
    async with run_server(ScriptedEngine(LONG), rooms_file=str(path)) as s, classroom(s) as room:
        async with room.teacher() as teacher, room.phone() as phone:
            await teacher.say("open_round", plan=PLAN)
            await teacher.phase("predict")
            await teacher.go("watch")
            await phone.until(lambda p: p.text["a"])
            await teacher.say("delete_room")
            assert await phone.closed() == 4404
        await until(lambda: not s.replies.has_readers())
        assert not s.replies.running()
        await s.app.state.rooms.flush()
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT count(*) FROM rooms").fetchone() == (0,)


async def test_a_server_that_goes_ends_the_stimulus_and_says_that_it_will_be_back():
    async with (
        run_server(ScriptedEngine(LONG, manual=True)) as s,
        classroom(s) as room,
        room.teacher() as teacher,
    ):
        await teacher.say("open_round", plan=PLAN)
        await teacher.phase("predict")
        await teacher.go("watch")
        await until(lambda: s.replies.running())
        s.server.should_exit = True
        await teacher.until(lambda t: t.room["round"]["stimulus"]["state"] == "failed")
        assert await teacher.closed() == 1012
