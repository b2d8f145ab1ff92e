"""Store: rooms on disk, so that they survive the server: SQLite, one row a room.

A room is one frozen value, so a row is that value as JSON; the newest wins and nothing is ever half
written. Blocking calls run in one thread of their own, never on the event loop. What matters (a
phase, a closed vote) is written at once, votes in between within ``lag_s``. With WAL a killed
process loses nothing that was written; a power cut may lose the last moment.

It refuses to know the rules of a room.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from app.rooms.state import Room

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
#: Version of the rows; another one's rooms are not read.
_VERSION = 1
_LAG_S = 0.5
_RETRY_S = 5.0


class Store:
    """``path`` None: nothing is kept, as for a server on a port that changes with every start."""

    def __init__(self, path: Path | None, lag_s: float = _LAG_S) -> None:
        self._path = path
        self._lag_s = lag_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rooms")
        self._connection: sqlite3.Connection | None = None
        #: The newest value of each room that is not written yet; None: to be deleted.
        self._waiting: dict[str, Room | None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writer: asyncio.Task[None] | None = None

    async def load(self) -> list[Room]:
        """All rooms on disk. When the file cannot be used, rooms live in memory only: a lesson can go on."""
        if self._path is None:
            return []
        try:
            return await self._run(self._load)
        except (sqlite3.Error, OSError) as error:
            _LOG.warning(
                "the rooms file %s cannot be used (%s): rooms end with this server", self._path, error
            )
            self._path = None
            return []

    def put(self, room: Room, *, now: bool) -> None:
        """Keep this value of a room: at once, or a moment later with what else comes."""
        self._wait(room.code, room, now)

    def delete(self, code: str) -> None:
        """Forget a room, at once."""
        self._wait(code, None, True)

    async def flush(self) -> None:
        """Write all that waits, now. What cannot be written stays waiting."""
        self._write_now()
        while self._writer is not None:
            await asyncio.shield(self._writer)

    async def close(self) -> None:
        """Write what waits, as far as that is possible, and let the file go."""
        await self.flush()
        if self._timer is not None:
            self._timer.cancel()
        await self._run(self._close)
        self._thread.shutdown(wait=False)

    # Private: on the event loop

    def _wait(self, code: str, room: Room | None, now: bool) -> None:
        if self._path is None:
            return
        self._waiting[code] = room
        if now:
            self._write_now()
        elif self._timer is None and self._writer is None:
            self._timer = asyncio.get_running_loop().call_later(self._lag_s, self._write_now)

    def _write_now(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writer is None and self._waiting:
            batch, self._waiting = self._waiting, {}
            self._writer = asyncio.create_task(self._write_batch(batch))

    async def _write_batch(self, batch: dict[str, Room | None]) -> None:
        try:
            await self._run(lambda: self._write(batch))
        except (sqlite3.Error, OSError) as error:
            # A full disk must not end a lesson: it goes on from memory, and what is newest is tried again.
            _LOG.error("rooms could not be written to %s: %s", self._path, error)
            self._waiting = {**batch, **self._waiting}
            self._writer = None
            self._timer = asyncio.get_running_loop().call_later(_RETRY_S, self._write_now)
        else:
            self._writer = None
            self._write_now()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    # Private: in the thread

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            assert self._path is not None
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=5.0, check_same_thread=False)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            # What is deleted is to be gone, not to lie about in free pages.
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS rooms (code TEXT PRIMARY KEY, version INTEGER, state BLOB)"
            )
            connection.commit()
            self._path.chmod(0o600)
            self._connection = connection
        return self._connection

    def _load(self) -> list[Room]:
        assert self._path is not None
        if not self._path.exists():
            return []
        rows = self._open().execute("SELECT state FROM rooms WHERE version = ?", (_VERSION,)).fetchall()
        rooms = []
        for (state,) in rows:
            try:
                rooms.append(msgspec.json.decode(state, type=Room))
            except msgspec.DecodeError:
                _LOG.exception("a room in %s cannot be read and is left alone", self._path)
        return rooms

    def _write(self, batch: dict[str, Room | None]) -> None:
        connection = self._open()
        with connection:
            for code, room in batch.items():
                if room is None:
                    connection.execute("DELETE FROM rooms WHERE code = ?", (code,))
                else:
                    connection.execute(
                        "INSERT OR REPLACE INTO rooms VALUES (?, ?, ?)",
                        (code, _VERSION, msgspec.json.encode(room)),
                    )
        if any(room is None for room in batch.values()):
            # The log still holds what was deleted; fold it in and empty it.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
