"""Rooms on disk: what was decided comes back, what was deleted does not, and nothing is unbounded."""

from __future__ import annotations

import sqlite3

import pytest

from app.engine.scripted import ScriptedEngine
from app.errors import NotFound, Overloaded
from app.reply.registry import Replies
from app.rooms.registry import Rooms, rooms_file
from app.rooms.state import Room
from app.rooms.store import Store
from app.settings import Settings
from tests.server import until


def room(code: str = "K7QX2M", title: str = "") -> Room:
    return Room(code, "seed", "host", "wall", 0.0, title)


def stored(path) -> list[str]:
    with sqlite3.connect(path) as connection:
        found = [code for (code,) in connection.execute("SELECT code FROM rooms ORDER BY code")]
    connection.close()
    return found


async def test_the_newest_value_of_a_room_comes_back(tmp_path):
    path = tmp_path / "folder" / "rooms.sqlite3"
    store = Store(path)
    for number in range(50):
        store.put(room(title=f"{number}"), now=number % 7 == 0)
    await store.close()
    again = Store(path)
    assert await again.load() == [room(title="49")]
    await again.close()


async def test_what_matters_is_written_without_waiting_for_the_lag(tmp_path):
    path = tmp_path / "rooms.sqlite3"
    store = Store(path, lag_s=3600)
    store.put(room("AAAAAA"), now=True)
    store.put(room("BBBBBB"), now=False)
    await until(lambda: path.exists() and store._writer is None)
    assert "AAAAAA" in stored(path)
    await store.close()
    assert stored(path) == ["AAAAAA", "BBBBBB"]


async def test_what_can_wait_is_written_within_the_lag(tmp_path):
    path = tmp_path / "rooms.sqlite3"
    store = Store(path, lag_s=0.01)
    store.put(room(), now=False)
    assert not path.exists()
    await until(lambda: not store._waiting and store._writer is None)
    assert stored(path) == ["K7QX2M"]
    await store.close()


async def test_what_is_deleted_leaves_nothing_in_the_files(tmp_path):
    path = tmp_path / "rooms.sqlite3"
    store = Store(path)
    store.put(room(title="a title to be forgotten"), now=True)
    await store.flush()
    store.delete("K7QX2M")
    await store.flush()
    assert stored(path) == []
    for file in tmp_path.iterdir():
        assert b"to be forgotten" not in file.read_bytes()
    await store.close()


async def test_without_a_file_nothing_is_kept_and_nothing_fails():
    store = Store(None)
    store.put(room(), now=True)
    store.delete("K7QX2M")
    assert await store.load() == []
    await store.close()


async def test_a_file_that_is_no_database_does_not_stop_a_lesson(tmp_path, caplog):
    path = tmp_path / "rooms.sqlite3"
    path.write_text("not a database" * 100)
    store = Store(path)
    assert await store.load() == []
    assert "cannot be used" in caplog.text
    store.put(room(), now=True)
    await store.close()
    assert path.read_text().startswith("not a database")


async def test_a_full_disk_does_not_stop_a_lesson_and_is_tried_again(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("app.rooms.store._RETRY_S", 0.01)
    store = Store(tmp_path / "rooms.sqlite3")
    write = store._write
    failures: list[object] = []

    def full(batch):
        if len(failures) < 2:
            failures.append(batch)
            raise OSError("no space left")
        write(batch)

    monkeypatch.setattr(store, "_write", full)
    store.put(room(), now=True)
    store.delete("BBBBBB")
    await until(lambda: not store._waiting and store._writer is None)
    assert stored(tmp_path / "rooms.sqlite3") == ["K7QX2M"] and "no space left" in caplog.text
    await store.close()


async def test_a_room_that_cannot_be_read_is_left_alone(tmp_path, caplog):
    path = tmp_path / "rooms.sqlite3"
    store = Store(path)
    store.put(room(), now=True)
    await store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO rooms VALUES ('BROKEN', 1, '{}')")
    connection.close()
    again = Store(path)
    assert [r.code for r in await again.load()] == ["K7QX2M"]
    await again.close()
    assert stored(path) == ["BROKEN", "K7QX2M"]


class Clock:
    def __init__(self) -> None:
        self.epoch_s = 1_000_000.0

    def __call__(self) -> float:
        return self.epoch_s


def registry(path, clock: Clock, **changed) -> Rooms:
    settings = Settings(**{"rooms_file": str(path), **changed})
    engine = ScriptedEngine()
    return Rooms(Replies(engine, settings), engine, settings, now_epoch_s=clock)


async def test_rooms_come_back_with_their_keys_and_old_ones_do_not(tmp_path):
    path, clock = tmp_path / "rooms.sqlite3", Clock()
    first = registry(path, clock)
    old, _ = first.open("old")
    clock.epoch_s += 23 * 3600
    young, key = first.open("young")
    number, secret = young.admit(None)
    await first.stop()
    clock.epoch_s += 2 * 3600
    second = registry(path, clock)
    await second.start()
    with pytest.raises(NotFound):
        second.find(old.room.code)
    back = second.find(young.room.code)
    assert back.is_host(key) and not back.is_host(secret) and not back.is_host(None)
    assert back.is_wall(young.room.wall_token) and not back.is_wall("")
    assert back.number_of(secret) == number and back.admit(secret) == (number, secret)
    assert back.epoch != young.epoch
    await second.stop()
    assert stored(path) == [young.room.code]


async def test_no_key_is_written_as_it_is(tmp_path):
    path = tmp_path / "rooms.sqlite3"
    rooms = registry(path, Clock())
    stage, key = rooms.open("")
    secret = stage.admit(None)[1]
    await rooms.stop()
    assert key.encode() not in path.read_bytes() and secret.encode() not in path.read_bytes()


async def test_a_room_is_deleted_when_its_time_is_over(tmp_path):
    rooms = registry(tmp_path / "rooms.sqlite3", Clock(), room_hours=0.01)
    stage, _ = rooms.open("")
    rooms._expiries[stage.room.code]._run()
    with pytest.raises(NotFound):
        rooms.find(stage.room.code)
    await rooms.stop()
    assert stored(tmp_path / "rooms.sqlite3") == []


async def test_there_are_so_many_rooms_and_participants_and_no_more(tmp_path):
    rooms = registry(tmp_path / "rooms.sqlite3", Clock(), max_rooms=2, room_participants=3)
    stage, _ = rooms.open("")
    rooms.open("")
    with pytest.raises(Overloaded, match="2 rooms"):
        rooms.open("")
    secrets = [stage.admit(None)[1] for _ in range(3)]
    with pytest.raises(Overloaded, match="3 take part"):
        stage.admit(None)
    assert stage.admit(secrets[0])[0] == 1
    await rooms.stop()


def test_each_port_has_its_own_file_and_a_chosen_port_none(tmp_path):
    assert rooms_file(Settings(port=0)) is None
    assert rooms_file(Settings(port=8000)) != rooms_file(Settings(port=8001))
    assert rooms_file(Settings(port=0, rooms_file=str(tmp_path / "x"))) == tmp_path / "x"
