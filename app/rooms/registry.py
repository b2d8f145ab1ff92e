"""Registry: the rooms of this server: opened, found by code, kept on disk, forgotten after a day.

Bounds: so many rooms, so many participants in each, so many hours. It refuses to know wires and who
may come in.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from app.errors import NotFound, Overloaded, StartupError
from app.generation import Engine
from app.replay.library import Library, shipped
from app.reply.log import Reply
from app.reply.registry import Replies
from app.rooms.code import new_code
from app.rooms.keys import digest, new_key
from app.rooms.notices import Restored
from app.rooms.parts import Parts
from app.rooms.permission import SYSTEM
from app.rooms.plan import RoundPlan
from app.rooms.room import decide
from app.rooms.rush import RushLimits
from app.rooms.stage import Stage
from app.rooms.state import Room
from app.rooms.stimulus import prompt_of
from app.rooms.store import Store
from app.settings import Settings

_HOUR_S = 3600.0


class Rooms:
    """All rooms; ``recordings`` are those that a round can play."""

    def __init__(
        self,
        replies: Replies,
        engine: Engine,
        settings: Settings,
        *,
        recordings: Callable[[], Library] = shipped,
        now_ns: Callable[[], int] = time.monotonic_ns,
        now_epoch_s: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._replies = replies
        self._recordings = recordings
        self._now_epoch_s = now_epoch_s
        self._store = Store(rooms_file(settings))
        self._stages: dict[str, Stage] = {}
        self._expiries: dict[str, asyncio.TimerHandle] = {}
        self._parts = Parts(
            replies=replies,
            engine=engine,
            begin=self._begin,
            rush=RushLimits(
                # Half of the line stays free for everybody else.
                settings.max_batch + settings.max_waiting // 2,
                settings.default_temperature,
                settings.default_top_p,
                settings.max_output_tokens,
            ),
            now_ns=now_ns,
            origin_ns=now_ns(),
            epoch=secrets.token_hex(4),
            max_participants=settings.room_participants,
            keep=lambda room, now: self._store.put(room, now=now),
            erase=self._erase,
        )

    async def start(self) -> None:
        """Bring back the rooms of the last run that are not too old."""
        for room in await self._store.load():
            # Clocks are set back now and then: a room is never younger than new.
            age_s = max(0.0, self._now_epoch_s() - room.created_epoch_s)
            if age_s >= self._settings.room_hours * _HOUR_S:
                self._store.delete(room.code)
                continue
            self._open(decide(room, Restored(), SYSTEM)[0], age_s)

    async def stop(self) -> None:
        """Write what is to be kept; rooms stay on disk for the next run."""
        for code in list(self._stages):
            self._close(code)
        await self._store.close()

    def open(self, title: str) -> tuple[Stage, str]:
        """A new room and the teacher's key. Raises Overloaded when there are too many."""
        limit = self._settings.max_rooms
        if len(self._stages) >= limit:
            raise Overloaded(f"{limit} rooms are open already, which is the limit; delete one first.")
        code = next(code for code in iter(new_code, None) if code not in self._stages)
        key = new_key()
        room = Room(
            code=code,
            seed=secrets.token_hex(8),
            host_key=digest(key),
            wall_token=new_key(),
            created_epoch_s=round(self._now_epoch_s(), 3),
            title=title,
        )
        stage = self._open(room, 0.0)
        self._store.put(room, now=True)
        return stage, key

    def find(self, code: str) -> Stage:
        """The room with this code. Raises NotFound."""
        stage = self._stages.get(code)
        if stage is None:
            raise NotFound("there is no room with this code, or its time is over", param="code")
        return stage

    async def flush(self) -> None:
        """Wait until everything is on disk."""
        await self._store.flush()

    def __len__(self) -> int:
        return len(self._stages)

    # Private

    def _open(self, room: Room, age_s: float) -> Stage:
        stage = self._stages[room.code] = Stage(room, self._parts)
        left_s = self._settings.room_hours * _HOUR_S - age_s
        self._expiries[room.code] = asyncio.get_running_loop().call_later(left_s, self._erase, room.code)
        return stage

    def _erase(self, code: str) -> None:
        self._close(code)
        self._store.delete(code)

    def _close(self, code: str) -> None:
        if (stage := self._stages.pop(code, None)) is not None:
            self._expiries.pop(code).cancel()
            stage.end()

    def _begin(self, plan: RoundPlan) -> Reply:
        if plan.recording is not None:
            player = self._recordings().player(plan.recording)
            return self._replies.start(player.prompt(new_key()), engine=player, slow_policy="buffer")
        prompt = prompt_of(plan, new_key(), self._settings.default_top_p, self._settings.max_output_tokens)
        return self._replies.start(prompt, slow_policy="buffer")


def rooms_file(settings: Settings) -> Path | None:
    """Where rooms are kept: one file a port, so that two servers never share one; None: nowhere.

    Raises StartupError when the setting names a folder.
    """
    if settings.rooms_file:
        path = Path(settings.rooms_file).expanduser()
        if path.is_dir():
            raise StartupError(f"FIRSTWORD_ROOMS_FILE={settings.rooms_file} is a folder, not a file")
        return path
    return settings.cache_dir / f"rooms-{settings.port}.sqlite3" if settings.port else None
