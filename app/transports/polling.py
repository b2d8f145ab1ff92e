"""Polling: a reply for clients that ask again and again what is new, as pages did before streams.

A poller is a reader like any other, only that what it gets waits here until it is asked for. A poll
with ``after`` says that everything up to that delta has come, which is its credit. Deltas and the
end are told again until then, as an answer may be lost on its way; news of the moment (queued,
started, paused, resumed) is told once. A poller that is not seen for the stall limit has gone, as
one whose connection broke; when it comes back in time, it goes on behind its ``after``. It refuses
to know HTTP.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from dataclasses import replace

from app.errors import NotFound, Overloaded
from app.events import AnyEvent, Delta, Done, Error
from app.reply.log import Reply
from app.transports.crossing import Crossing, attach
from app.transports.framing import json_bytes
from app.transports.reading import Reading


class Poller:
    """One cursor and what it has found. ``close`` ends it."""

    def __init__(self, reply: Reply, how: Reading) -> None:
        self.reply = reply
        self.how = how
        self.closed = False
        self._reader = attach(reply, self.how)
        self._waiting: deque[AnyEvent] = deque()
        #: Deltas up to this one are given up: the client has said that it has them.
        self._acknowledged = how.after
        self._task = asyncio.get_running_loop().create_task(self._collect())

    def can_go_on(self, after: int) -> bool:
        """Whether everything behind ``after`` is still here."""
        return not self.closed and after >= self._acknowledged

    def take(self, after: int) -> list[AnyEvent]:
        """What there is behind delta ``after``."""
        self._acknowledged = after
        self._reader.acknowledge(after)
        # An empty answer's one delta has the place 0 and is never confirmed.
        waiting = [e for e in self._waiting if not (isinstance(e, Delta) and 0 < e.seq <= after)]
        self._waiting = deque(e for e in waiting if isinstance(e, Delta | Done | Error))
        return waiting

    def close(self) -> None:
        """Nobody asks any more; idempotent."""
        self.closed = True
        self._task.cancel()
        self._reader.close()

    # Private

    async def _collect(self) -> None:
        crossing = Crossing(self._reader, self.how, json_bytes)
        try:
            async for event, _ in crossing:
                self._waiting.append(event)
        finally:
            crossing.close()
            # What is over needs no cursor, only somebody who asks for the rest.
            self._reader.close()


class Pollers:
    """All pollers, by a name that only its client knows; each is forgotten ``unseen_s`` after a poll."""

    def __init__(self, unseen_s: float, limit: int) -> None:
        self._unseen_s = unseen_s
        self._limit = limit
        self._pollers: dict[str, Poller] = {}
        self._expiries: dict[str, asyncio.TimerHandle] = {}
        #: The newest poller of a reply, for clients that name none.
        self._newest: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._pollers)

    def open(self, reply: Reply, how: Reading) -> str:
        """A new poller; returns its name. Raises Overloaded when there are too many."""
        name = _new_name()
        self._put(name, reply, how)
        return name

    async def poll(self, reply: Reply, how: Reading, name: str | None = None) -> list[AnyEvent]:
        """What is new behind ``how.after``. One that is gone or went back begins there anew, as ``how``.

        Raises NotFound for the name of another reply's poller, Overloaded when there are too many.
        """
        name = name or self._newest.get(reply.id) or _new_name()
        poller = self._pollers.get(name)
        if poller is not None and poller.reply is not reply:
            raise NotFound("this is no poller of this reply", param="poller")
        if poller is None or not poller.can_go_on(how.after):
            poller = self._put(name, reply, how if poller is None else replace(poller.how, after=how.after))
            # One turn, in which it finds what is there already.
            await asyncio.sleep(0)
        else:
            self._see(name)
        return poller.take(how.after)

    # Private

    def _put(self, name: str, reply: Reply, how: Reading) -> Poller:
        before = self._pollers.pop(name, None)
        if len(self._pollers) >= self._limit:
            raise Overloaded(f"{self._limit} pollers are here already, which is the limit")
        poller = Poller(reply, how)
        self._pollers[name] = poller
        self._newest[reply.id] = name
        self._see(name)
        # Only now: a moment without any reader would look like everybody had left.
        if before is not None:
            before.close()
        return poller

    def _see(self, name: str) -> None:
        if name in self._expiries:
            self._expiries.pop(name).cancel()
        self._expiries[name] = asyncio.get_running_loop().call_later(self._unseen_s, self._forget, name)

    def _forget(self, name: str) -> None:
        poller = self._pollers.pop(name, None)
        if poller is None:
            return
        poller.close()
        self._expiries.pop(name).cancel()
        if self._newest.get(poller.reply.id) == name:
            del self._newest[poller.reply.id]


# Private


def _new_name() -> str:
    return secrets.token_urlsafe(9)
