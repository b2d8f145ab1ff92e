"""F16, F17 and F19 with the default model: no memory, a lost device, too little KV, a step that hangs."""

from __future__ import annotations

import asyncio
import json
import signal
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]
from websockets.asyncio.client import connect

from app.engine.model.numerics import choose
from drill.case import Finding, Scale
from drill.faulty import FAULT
from drill.served import Served, served
from drill.streams import Heard, Message, heard, others

#: The compiled pass gives each row the same bits in any company, so only a fault can change a text. In
#: other fast dtypes a prompt is read by other products than those that make its text, and a text that is
#: begun again may go on in other words; there float32 is played.
_EXACT = {} if choose("auto", "auto").compiled else {"FIRSTWORD_DTYPE": "float32"}
#: Greedy, and as long as is asked for: a text that can be compared.
_SURE: dict[str, object] = {"temperature": 0, "ignore_eos": True}
_TOPICS = ("the sea", "a train", "an apple", "the moon", "a horse", "the rain", "a bridge", "the snow")
#: Positions that the faulty device has memory for.
_MEMORY_TOKENS = 200
_KV_BLOCKS, _BLOCK_TOKENS = 10, 16
#: The model's own preface and the question.
_PROMPT_TOKENS = 45
_HANG_S, _STALL_S = 30.0, 5.0


async def out_of_memory(scale: Scale) -> Finding:
    """F16: memory runs out in prefill and in decoding; then the device is lost."""
    with tempfile.TemporaryDirectory() as folder:
        fault = Path(folder) / "fault"
        _set(fault, "")
        async with served(program="drill.faulty", model=True, environ=_EXACT | {FAULT: str(fault)}) as server:
            alone = [await _tell(server, topic, 24) for topic in _TOPICS[:3]]
            _set(fault, f"memory {_MEMORY_TOKENS}")
            ends, same = [], True
            for words, num in ((2 * _MEMORY_TOKENS, 8), (_MEMORY_TOKENS - 60, 150)):
                offender = [{"role": "user", "content": "sea " * words}]
                bad, *good = await asyncio.gather(
                    heard(server.ws, offender, {"max_tokens": num, **_SURE}),
                    *(_tell(server, topic, 24) for topic in _TOPICS[:3]),
                )
                ends.append(bad.end)
                same = same and [each.text for each in good] == [each.text for each in alone]
            after = await _tell(server, _TOPICS[0], 24)
            _set(fault, "")
            told_s, errors = await _lose(server, fault)
            back_s = await _ready_again(server)
            again = await _tell(server, _TOPICS[0], 24)
    works = after.text == again.text == alone[0].text
    return Finding(
        f"in prefill and in decoding the offender got {ends}, the others the same text: {same}; device lost: "
        f"all told {errors} within {told_s:.2f} s, ready again after {back_s:.0f} s, then the same: {works}",
        ends == ["out_of_memory"] * 2 and same and works and told_s <= 1.0 and len(errors) == 1,
    )


async def little_memory(scale: Scale) -> Finding:
    """F17: eight replies that together need four times the KV memory."""
    each = 4 * _KV_BLOCKS * _BLOCK_TOKENS // len(_TOPICS)
    tokens = each - _PROMPT_TOKENS
    async with served(model=True, environ=_EXACT | {"FIRSTWORD_KV_BLOCKS": str(_KV_BLOCKS)}) as server:
        alone = [await _tell(server, topic, tokens) for topic in _TOPICS]
        together = await asyncio.gather(*(_tell(server, topic, tokens) for topic in _TOPICS))
        same = sum(a.text == b.text for a, b in zip(alone, together, strict=True))
        refused = await asyncio.gather(*(_tell(server, topic, 4) for topic in _TOPICS * 8))
        clean = await server.meter("firstword_kv_used_ratio") == 0
    late_s = max(each.first_s for each in together)
    ends = sorted({each.end for each in refused})
    return Finding(
        f"{len(_TOPICS)} replies of {each} tokens in {_KV_BLOCKS * _BLOCK_TOKENS}: {same} with the text they "
        f"have alone, the last began after {late_s:.1f} s; of {len(refused)} at once "
        f"{sum(each.end == 'overloaded' for each in refused)} refused, ends: {ends}; KV clean: {clean}",
        same == len(_TOPICS) and late_s <= 60 and ends == ["length", "overloaded"] and clean,
    )


async def hangs(scale: Scale) -> Finding:
    """F19: the engine's process stands still for a while, then for good; then the server's for 2 s."""
    async with served(model=True) as server:
        engine = server.process.children()[0]
        before = await _tell(server, _TOPICS[0], 60)
        begun = asyncio.Event()
        reading = _tell(server, _TOPICS[0], 60, begun)
        await begun.wait()
        async with _stopped(engine):
            stalled_s, slowest_ms = await _until_stalled(server)
        survived = (await reading).text == before.text
        begun = asyncio.Event()
        reading = _tell(server, _TOPICS[1], 900, begun)
        await begun.wait()
        engine.send_signal(signal.SIGSTOP)
        lost = await reading
        back_s = await _ready_again(server)
    async with served() as server, others(server.ws) as gaps:
        # A start is late by nature.
        await asyncio.sleep(2)
        started = await server.late()
        await asyncio.sleep(15)
        lag_ms = await server.late_ms(0.99, started)
        gaps.mark()
        async with _stopped(server.process):
            await asyncio.sleep(2)
        await asyncio.sleep(2)
        longest_ms = max(gaps.mark())
        went_on = await server.meter("firstword_running")
    return Finding(
        f"said after {stalled_s:.1f} s, pings answered in {slowest_ms:.0f} ms, goes on the same: {survived}; "
        f"for good: {lost.end} after {lost.total_s:.0f} s, ready {back_s:.0f} s later; loop held for 2 s: "
        f"{went_on:.0f} of 8 streams go on (gap {longest_ms:.0f} ms); else late p99 <= {lag_ms:g} ms",
        stalled_s <= _STALL_S + 3 and slowest_ms <= 500 and survived
        and lost.end == "engine_lost" and lost.total_s <= _HANG_S + 10
        and went_on == 8 and longest_ms < 4000 and lag_ms <= 50,
    )  # fmt: skip


# Private


def _tell(
    server: Served, topic: str, tokens: int, begun: asyncio.Event | None = None
) -> asyncio.Future[Heard]:
    messages: list[Message] = [{"role": "user", "content": f"Tell me about {topic}."}]
    return asyncio.ensure_future(heard(server.ws, messages, {"max_tokens": tokens, **_SURE}, begun))


def _set(fault: Path, kind: str) -> None:
    fault.write_text(kind)


async def _lose(server: Served, fault: Path) -> tuple[float, set[str]]:
    """Take the device from four replies: seconds until the last has heard of it, and what they were told."""
    begun = [asyncio.Event() for _ in range(4)]
    running = [_tell(server, topic, 400, event) for topic, event in zip(_TOPICS, begun, strict=False)]
    await asyncio.gather(*(event.wait() for event in begun))
    _set(fault, "lost")
    lost_s = time.monotonic()
    ends = {each.end for each in await asyncio.gather(*running)}
    told_s = time.monotonic() - lost_s
    _set(fault, "")
    return told_s, ends


async def _ready_again(server: Served) -> float:
    """Seconds until the server is not ready, and then is."""
    began_s = time.monotonic()
    async with asyncio.timeout(120), httpx.AsyncClient(base_url=server.url) as http:
        for wanted in (503, 200):
            while (await http.get("/readyz")).status_code != wanted:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)
    return time.monotonic() - began_s


async def _until_stalled(server: Served) -> tuple[float, float]:
    """Seconds until /readyz says so, and the slowest ping in milliseconds until then."""
    began_s, slowest_ms = time.monotonic(), 0.0
    async with httpx.AsyncClient(base_url=server.url) as http, connect(server.ws) as socket:
        async with asyncio.timeout(20):
            while (await http.get("/readyz")).json()["stalled_s"] is None:
                asked_s = time.monotonic()
                await socket.send('{"type":"ping","t":1}')
                while json.loads(await socket.recv())["type"] != "pong":
                    pass
                slowest_ms = max(slowest_ms, (time.monotonic() - asked_s) * 1e3)
                await asyncio.sleep(0.1)
    return time.monotonic() - began_s, slowest_ms


@asynccontextmanager
async def _stopped(process: psutil.Process) -> AsyncIterator[None]:
    """The process stands still for as long as the block is open."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)
