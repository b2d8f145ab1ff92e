"""Who comes in and as what: codes, cookies, keys, tokens, guesses, floods, and the way in as a picture."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.engine.scripted import ScriptedEngine
from app.rooms.addresses import lan_addresses, mdns_name
from tests.server import run_server
from tests.socket.room_clients import RoomSocket, classroom

TEACHERS: list[dict[str, object]] = [
    {"type": "open_round", "plan": {"prompt": "x"}},
    {"type": "open_sending", "plan": {}},
    {"type": "advance", "to": "idle", "since": "idle"},
    {"type": "hold", "freeze": True},
    {"type": "spotlight", "number": None},
    {"type": "approve", "number": None},
    {"type": "kick", "number": 1},
    {"type": "tally", "first": 1, "second": 1, "same": 1},
    {"type": "close_room"},
    {"type": "delete_room"},
]
STUDENTS: list[dict[str, object]] = [
    {"type": "vote", "round": 1, "ballot": "vote", "choice": "1"},
    {"type": "felt", "round": 1, "first_s": 1, "second_s": 1},
    {"type": "seen", "round": 1, "stimulus": "s", "first_paint_ms": {}},
    {"type": "nickname"},
    {"type": "ask", "text": "x"},
    {"type": "measured", "reply": "r", "first_word_ms": 1},
]


async def answers(socket: RoomSocket, said: list[dict[str, object]]) -> list[str]:
    """What each message is answered with; a pong marks the end."""
    for message in said:
        await socket.connection.send(json.dumps(message))
        await asyncio.sleep(0)
    await socket.say("ping", t=1)
    codes: list[str] = []
    while (frame := await socket.hear())["type"] != "pong":
        if frame["type"] == "error":
            codes.append(frame["code"])
    return codes


async def test_students_and_the_wall_can_do_no_teachers_action_on_the_wire():
    async with run_server(ScriptedEngine()) as s, classroom(s) as room:
        async with room.phone() as phone, room.wall() as wall:
            for socket in (phone, wall):
                for message in TEACHERS:
                    assert await answers(socket, [message]) == ["forbidden"]
            for message in STUDENTS:
                assert await answers(wall, [message]) == ["forbidden"]
        response = await room.teacher_http.get(f"/api/rooms/{room.code}")
        state = response.json()
        assert (state["phase"], state["closed"], state["frozen"]) == ("idle", False, False)


async def test_the_teachers_routes_are_closed_to_everybody_else():
    async with run_server(ScriptedEngine()) as s, classroom(s) as room:
        base = f"/api/rooms/{room.code}"
        async with httpx.AsyncClient(base_url=s.url) as stranger:
            for method, path in [
                ("DELETE", base),
                ("GET", f"{base}/key"),
                ("GET", f"{base}/addresses"),
                ("GET", f"{base}/export.csv"),
                ("GET", f"{base}/export.json"),
            ]:
                assert (await stranger.request(method, path)).status_code == 403
            wrong = {f"firstword_host_{room.code}": "x" * 22}
            stranger.cookies.update(wrong)
            assert (await stranger.get(f"{base}/key")).status_code == 403
            assert (await stranger.post(f"{base}/host", json={"key": "x" * 22})).status_code == 403
        assert (await room.teacher_http.get(base)).status_code == 200


async def test_a_student_cannot_say_to_be_the_teacher_or_the_wall():
    async with run_server(ScriptedEngine()) as s, classroom(s) as room:
        id = (await room.join())["id"]
        cookie = f"firstword_phone_{room.code}={id}; firstword_host_{room.code}={id}"
        for hello in (
            {"role": "host"},
            {"role": "wall", "token": id},
            {"role": "wall"},
            {"role": "participant", "id": "x" * 22},
            {"role": "system"},
        ):
            async with room.socket(hello, cookie if hello["role"] != "participant" else "") as socket:
                assert await socket.closed() in (4401, 1008)
                assert not socket.room


async def test_the_cookies_are_out_of_reach_of_scripts_and_of_other_sites():
    async with run_server(ScriptedEngine()) as s, httpx.AsyncClient(base_url=s.url) as http:
        opened = await http.post("/api/rooms", json={})
        joined = await http.post(f"/api/rooms/{opened.json()['code']}/participants", json={})
        for response in (opened, joined):
            cookie = response.headers["set-cookie"].lower()
            assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie
            assert "max-age=86400" in cookie
        assert "host" not in opened.text


async def test_a_phone_is_known_again_by_its_cookie_or_by_its_id_and_by_nothing_else():
    async with run_server(ScriptedEngine()) as s, classroom(s) as room:
        path = f"/api/rooms/{room.code}/participants"
        async with httpx.AsyncClient(base_url=s.url) as phone:
            first = (await phone.post(path)).json()
            assert (await phone.post(path, json={})).json() == first
        assert await room.join(first["id"]) == first
        assert (await room.join("x" * 22))["number"] == 2
        assert (await room.join())["number"] == 3


async def test_the_console_opens_on_another_device_by_its_key():
    async with run_server(ScriptedEngine()) as s, classroom(s) as room:
        key = (await room.teacher_http.get(f"/api/rooms/{room.code}/key")).json()["key"]
        async with httpx.AsyncClient(base_url=s.url) as tablet:
            response = await tablet.post(f"/api/rooms/{room.code}/host", json={"key": key})
            assert response.status_code == 204
            assert (await tablet.get(f"/api/rooms/{room.code}/export.csv")).status_code == 200


async def test_guessing_codes_ends_after_twenty_failures_and_the_class_still_gets_in():
    async with run_server(ScriptedEngine()) as s, classroom(s) as room, classroom(s) as other:
        await room.join()
        async with httpx.AsyncClient(base_url=s.url) as http:
            codes = [f"ZZZZ{a}{b}" for a in "ABCDEF" for b in "ABCDE"]
            statuses = [(await http.get(f"/api/rooms/{code}")).status_code for code in codes]
            assert statuses == [404] * 20 + [429] * 10
            assert (await http.get(f"/api/rooms/{other.code}")).status_code == 429
        await asyncio.gather(*[room.join() for _ in range(30)])
        async with room.phone():
            pass
        async with connect(f"{s.ws}/rooms/ZZZZZZ") as guess:
            assert await RoomSocket(guess).closed() == 4429


async def test_a_flood_from_one_socket_is_shown_out_and_others_are_not():
    async with (
        run_server(ScriptedEngine(), room_messages_per_minute=30) as s,
        classroom(s) as room,
        room.phone() as abuser,
        room.phone() as honest,
    ):
        with suppress(ConnectionClosed):
            for _ in range(200):
                await abuser.say("nickname", wanted=False)
        assert await abuser.closed() == 4429
        await honest.say("nickname")
        await honest.until(lambda p: p.me["nickname"])


async def test_a_socket_of_another_page_is_refused_before_it_is_accepted():
    async with run_server(ScriptedEngine()) as s, classroom(s) as room:
        for origin in ("http://evil.example", "null", s.url.replace("http", "https")):
            with pytest.raises(InvalidStatus) as refused:
                await connect(room.url, additional_headers={"Origin": origin})
            assert refused.value.response.status_code == 403


async def test_silence_instead_of_a_hello_is_no_way_in(monkeypatch):
    monkeypatch.setattr("app.transports.rooms_socket._HELLO_S", 0.05)
    async with run_server(ScriptedEngine()) as s, classroom(s) as room, connect(room.url) as silent:
        assert await RoomSocket(silent).closed() == 4401


async def test_rooms_are_opened_here_unless_anybody_may():
    addresses = lan_addresses()
    if not addresses:
        pytest.skip("this machine has no address on a network")
    for hosts, status in (("here", 201), ("anyone", 201)):
        async with (
            run_server(ScriptedEngine(), host="0.0.0.0", room_hosts=hosts) as s,
            httpx.AsyncClient(base_url=f"http://{addresses[0]}:{s.port}") as http,
        ):
            # From this machine by its own network address: still here.
            assert (await http.post("/api/rooms", json={})).status_code == status
    async with run_server(ScriptedEngine(), trusted_proxies="127.0.0.1") as s, httpx.AsyncClient() as http:
        elsewhere = {"X-Forwarded-For": "203.0.113.9"}
        response = await http.post(f"{s.url}/api/rooms", json={}, headers=elsewhere)
        assert response.status_code == 403 and "ROOM_HOSTS" in response.json()["message"]


async def test_the_qr_code_is_dark_on_white_with_a_quiet_zone_of_four():
    async with run_server(ScriptedEngine()) as s, classroom(s) as room:
        path = f"/api/rooms/{room.code}/qr.svg"
        response = await room.teacher_http.get(path, params={"base": s.url})
        assert response.headers["content-type"] == "image/svg+xml"
        svg = response.text
        size = re.search(r'viewBox="0 0 (\d+) \1"', svg)
        assert size is not None and int(size[1]) >= 21 + 8 and 'fill="#fff"' in svg and 'stroke="#000"' in svg
        assert re.search(r"M4 4\.5h7", svg), "the first corner begins behind the quiet zone"
        assert "<script" not in svg


@pytest.mark.parametrize(
    "base",
    [
        "http://evil.example",
        "javascript:alert(1)",
        "http://127.0.0.1@evil.example",
        "http://127.0.0.1/path",
        "http://127.0.0.1#x",
        "ftp://127.0.0.1",
        "http://127.0.0.1:99999999",
        "",
    ],
)
async def test_a_picture_that_leads_elsewhere_is_not_drawn(base):
    async with run_server(ScriptedEngine()) as s, classroom(s) as room:
        response = await room.teacher_http.get(f"/api/rooms/{room.code}/qr.svg", params={"base": base})
        assert response.status_code == 400 and response.json()["param"] == "base"


async def test_the_teacher_hears_under_which_addresses_phones_find_the_server():
    for host in ("0.0.0.0", "127.0.0.1"):
        async with (
            run_server(ScriptedEngine(), host=host) as s,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{s.port}") as http,
        ):
            code = (await http.post("/api/rooms", json={})).json()["code"]
            bases = (await http.get(f"/api/rooms/{code}/addresses")).json()["bases"]
            reachable = lan_addresses() if host == "0.0.0.0" else []
            assert bases == [f"http://{address}:{s.port}" for address in reachable]
    assert re.fullmatch(r"[a-z0-9-]+\.local", mdns_name() or "none.local")


async def test_the_preflight_sends_as_many_bytes_as_are_asked_for():
    async with run_server(ScriptedEngine()) as s, httpx.AsyncClient(base_url=s.url) as http:
        assert len((await http.get("/api/preflight", params={"bytes": 12345})).content) == 12345
        assert (await http.get("/api/preflight", params={"bytes": 10**9})).status_code == 400
