"""Served: a `firstword serve` in a process of its own, and what it costs: memory, descriptors, tasks, KV.

It refuses to know what is played against it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]

#: Tokens with the rhythm of a model on a CPU.
RHYTHM_MS = 20.0
_SCRIPT = [[f"word{number} ", RHYTHM_MS] for number in range(50)]


@dataclass(frozen=True, slots=True)
class Cost:
    """Resident bytes and open descriptors at one moment, the engine's process included."""

    rss: int
    descriptors: int


@dataclass(frozen=True, slots=True)
class Served:
    """A server that answers; ``url`` has no slash at its end."""

    url: str
    host: str
    port: int
    process: psutil.Process

    @property
    def ws(self) -> str:
        return self.url.replace("http", "ws", 1) + "/ws"

    def cost(self) -> Cost:
        """What the process holds now."""
        family = [self.process, *self.process.children(recursive=True)]
        return Cost(sum(each.memory_info().rss for each in family), sum(each.num_fds() for each in family))

    def holds(self, port: int) -> bool:
        """Whether the server still holds the connection from a client's ``port``."""
        connections = self.process.net_connections("tcp")
        return any(each.raddr and each.raddr.port == port for each in connections)

    async def meter(self, name: str) -> float:
        """The sum of one metric over its labels; 0 when it was never counted."""
        async with httpx.AsyncClient() as http:
            text = (await http.get(f"{self.url}/metrics")).text
        found = re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text, re.M)
        return sum(float(value) for value in found)

    async def late(self) -> dict[float, float]:
        """How many of the event loop's delays so far kept which bound in seconds."""
        async with httpx.AsyncClient() as http:
            text = (await http.get(f"{self.url}/metrics")).text
        found = re.findall(r'^firstword_event_loop_lag_seconds_bucket\{le="(\S+)"\} (\S+)$', text, re.M)
        return {float(bound): float(count) for bound, count in found}

    async def late_ms(self, share: float, since: Mapping[float, float] | None = None) -> float:
        """The bound that so large a share of the delays kept ``since`` then, in milliseconds."""
        kept = {bound: count - (since or {}).get(bound, 0.0) for bound, count in (await self.late()).items()}
        total = max(kept.values())
        return next(bound * 1e3 for bound, count in kept.items() if count >= share * total)

    async def clean(self, before: Cost, seconds: float = 5.0) -> bool:
        """Whether descriptors, running replies and KV memory come back within ``seconds``."""
        return await within(seconds, lambda: self.cost().descriptors <= before.descriptors + 2) and (
            await self.meter("firstword_running") == 0 and await self.meter("firstword_kv_used_ratio") == 0
        )


@contextlib.asynccontextmanager
async def served(
    *,
    script_tokens: list[list[object]] | None = None,
    program: str = "app",
    model: bool = False,
    host: str = "127.0.0.1",
    port: int = 0,
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[Served]:
    """Start a server and wait until it can answer; ended with the block.

    It has the scripted engine, or the default ``model``. ``program`` is run in place of `firstword`.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(script_tokens or _SCRIPT))
        environ = {"FIRSTWORD_ROOMS_FILE": f"{folder}/rooms", **(environ or {})}
        engine = ["local"] if model else ["scripted", "--script", str(script)]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", program, "serve", "--engine", *engine, "--host", host, "--port", str(port),
            env=os.environ | environ, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            async with asyncio.timeout(180):
                first = (await process.stdout.readline()).decode()
                if not first:
                    raise RuntimeError("the server did not start")
                url = first.split()[-1]
                await process.stdout.readline()
            yield Served(url, host, int(url.rsplit(":", 1)[1]), psutil.Process(process.pid))
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(20):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


async def within(seconds: float, holds: Callable[[], object]) -> bool:
    """Whether ``holds`` becomes true in time."""
    try:
        async with asyncio.timeout(seconds):
            while not holds():  # noqa: ASYNC110 - another process, which can set no event
                await asyncio.sleep(0.1)
    except TimeoutError:
        return False
    return True
