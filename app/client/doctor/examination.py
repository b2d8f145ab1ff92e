"""Examination: asks a server all that the doctor wants to know, one question after another.

Questions cost somebody money: a few short replies, and none that the findings do not need. It
refuses to judge what it sees, except where the next question depends on it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace

from app.client.asking import ask, request_raw
from app.client.connection import Patience
from app.client.detection import base_of, is_firstword, known_to_take
from app.client.dialects.dialect import Question, common_headers
from app.client.doctor.delivery import all_at_once
from app.client.doctor.meter import running
from app.client.doctor.observations import Leaving, Observations
from app.client.doctor.rhythm import rhythm_of
from app.client.exchange import Exchange
from app.client.http_answer import Request
from app.client.target import Target

#: The short reply is this many times shorter.
_SHORTER = 8
_PROBE = "/api/probe?ticks=12&every_ms=50"
_LOOK_S = 0.1
_RESUMABLE = ("ndjson", "sse", "websocket")


async def examine(
    target: Target,
    question: Question,
    patience: Patience,
    told: Callable[[str], None] = lambda step: None,
) -> Observations:
    """All observations. ``told`` hears what is being asked. Raises CannotConnect."""
    assert target.dialect is not None
    exam = _Examination(target, replace(question, compression=True), patience)
    told("a short reply")
    short = await exam.ask(replace(exam.question, max_tokens=max(1, question.max_tokens // _SHORTER)))
    told("a streamed reply")
    streamed = await exam.ask()
    seen = Observations(target.dialect.name, streamed, short=short)
    if known_to_take(target.dialect):
        told("a wrong request")
        seen = replace(seen, refusal=await exam.ask_wrongly())
    if streamed.error is not None or streamed.end not in ("complete", "closed"):
        # It cannot even answer: further questions would only wait for it again.
        return seen
    assert streamed.head is not None
    if streamed.head.get("content-encoding"):
        told("the same without compression")
        seen = replace(seen, uncompressed=await exam.ask(replace(question, compression=False)))
    if target.dialect.ask_whole(question, target.path) is not None:
        told("the same in one piece")
        seen = replace(seen, whole=await exam.ask(streamed=False))
    if all_at_once(streamed) and await is_firstword(target, question):
        told("timed ticks")
        seen = replace(seen, probe=await exam.probe())
    told("leaving in the middle of a reply")
    return await exam.leave(seen)


# Private


class _Examination:
    """One server under examination."""

    def __init__(self, target: Target, question: Question, patience: Patience) -> None:
        self.target = target
        self.question = question
        self.patience = patience

    async def ask(self, question: Question | None = None, *, streamed: bool = True) -> Exchange:
        return await ask(self.target, question or self.question, streamed=streamed, patience=self.patience)

    async def ask_wrongly(self) -> Exchange:
        """Messages that are none; anybody has to refuse them before anything is generated."""
        assert self.target.dialect is not None
        right = self.target.dialect.ask(self.question, self.target.path)
        body = json.loads(right.body)
        for name in ("messages", "prompt"):
            if name in body:
                body[name] = {"none": True}
        wrong = Request(right.method, right.target, right.headers, json.dumps(body).encode())
        return await request_raw(self.target, wrong, self.patience)

    async def probe(self) -> Exchange:
        path = base_of(self.target) + _PROBE
        headers = {**common_headers(self.question), "Accept": "text/event-stream"}
        return await request_raw(self.target, Request("GET", path, headers), self.patience)

    # Leaving

    async def leave(self, seen: Observations) -> Observations:
        """Leave a reply in its middle and look what becomes of it."""
        if seen.dialect in _RESUMABLE:
            note = "Firstword's own replies outlive a disconnect by design, to be resumed; DELETE stops them."
            return replace(seen, leaving_note=note)
        rhythm, short = rhythm_of(seen.streamed), rhythm_of(seen.short) if seen.short is not None else None
        if rhythm.last_ms is None or rhythm.first_ms is None or all_at_once(seen.streamed):
            note = "Leaving in the middle cannot be tried: there is no middle, the text comes all at once."
            return replace(seen, leaving_note=note)
        remaining_ms = (rhythm.last_ms - rhythm.first_ms) * 0.9
        base = await self._running()
        if base is not None:
            return replace(seen, leaving=await self._leave_and_count(base, remaining_ms))
        alone_ms = short.first_ms if short is not None else None
        return replace(seen, leaving=await self._leave_and_ask(alone_ms, remaining_ms))

    async def _leave_and_count(self, base: float, remaining_ms: float) -> Leaving:
        await self._start_and_leave()
        left_ns = time.monotonic_ns()
        while (time.monotonic_ns() - left_ns) / 1e6 < 0.6 * remaining_ms:
            count = await self._running()
            if count is not None and count <= base:
                return Leaving(remaining_ms, True, (time.monotonic_ns() - left_ns) / 1e6)
            await asyncio.sleep(min(_LOOK_S, remaining_ms / 1e4))
        return Leaving(remaining_ms, True)

    async def _leave_and_ask(self, alone_ms: float | None, remaining_ms: float) -> Leaving:
        brief = replace(self.question, max_tokens=max(1, self.question.max_tokens // _SHORTER))
        await self._start_and_leave()
        after_ms = rhythm_of(await self.ask(brief)).first_ms
        staying = asyncio.create_task(self.ask())
        try:
            # Not before the other one is under way: its first word takes as long as any.
            await asyncio.sleep((alone_ms or 0.0) / 1000 + 0.02)
            beside_ms = rhythm_of(await self.ask(brief)).first_ms
        finally:
            staying.cancel()
            await asyncio.gather(staying, return_exceptions=True)
        return Leaving(remaining_ms, alone_ms=alone_ms, after_ms=after_ms, beside_ms=beside_ms)

    async def _start_and_leave(self) -> None:
        await ask(
            self.target,
            self.question,
            patience=self.patience,
            enough=lambda hearing: len(hearing.deltas) >= 2,
        )

    async def _running(self) -> float | None:
        path = base_of(self.target) + "/metrics"
        answer = await request_raw(
            self.target, Request("GET", path, common_headers(self.question)), self.patience
        )
        return running(answer.text) if answer.error is None else None
