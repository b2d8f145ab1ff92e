"""``python -m bench.rooms_load``: a lecture hall on one server.

    storm     500 phones join within ten seconds
    read      one stimulus at 20 tokens a second for all of them
    frozen    the same, and one phone has stopped reading
    restart   the server is killed and started again; all come back by the page's own rule
    slow      300 phones, one of them on a line of 8 kbit/s (F03)

Delivery is from the moment a token was made to the moment a phone's socket had it; both clocks are this
machine's one monotonic clock. Server and phones share its cores, so the numbers are worse than a class
would see. Returns 1 when a promise was not kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import uvloop

from bench.formulas import percentile
from bench.room_hall import Hall, Round
from bench.room_phone import post
from bench.room_return import come_back

_SLOW_BYTES_PER_S = 1000.0
_DELIVERY_MS, _JOIN_MS, _BACK_S, _CONNECTS_PER_S = 100.0, 5000.0, 30.0, 60


def main() -> int:
    """Measure and print. Returns the exit code: 1 when a promise was not kept."""
    parser = argparse.ArgumentParser("python -m bench.rooms_load", description="500 phones in one room.")
    parser.add_argument("--phones", type=int, default=500)
    parser.add_argument("--slow-hall", type=int, default=300, help="phones where one of them is slow")
    parser.add_argument("--storm-s", type=float, default=10.0, help="all join within so long")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20.0, help="tokens a second")
    return uvloop.run(_measure(parser.parse_args()))


# Private


class Server:
    """A scripted server in a process of its own, with one word for each token; it can be killed."""

    def __init__(self, folder: Path, rate: float) -> None:
        script = folder / "script.json"
        script.write_text(json.dumps([[f"{number} ", 1000 / rate] for number in range(1000)]))
        self._command = [sys.executable, "-m", "app", "serve", "--engine", "scripted"]
        self._command += ["--script", str(script)]
        self._environment = {**os.environ, "FIRSTWORD_ROOMS_FILE": str(folder / "rooms.sqlite3")}
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start, again on the port that it had."""
        command = [*self._command, "--port", str(self.port)]
        self._child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self._environment)
        assert self._child.stdout is not None
        found = re.search(r":(\d+)$", self._child.stdout.readline().strip())
        assert found is not None, "the server did not say where it is"
        self.port = int(found[1])
        self._process = psutil.Process(self._child.pid)

    def end(self, how: signal.Signals) -> None:
        """Stop it, one way or the other."""
        self._child.send_signal(how)
        self._child.wait(20)

    @property
    def cpu_s(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    @property
    def memory_mb(self) -> float:
        return float(self._process.memory_info().rss / 1e6)


@contextmanager
def _server(rate: float) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), rate)
        try:
            yield server
        finally:
            server.end(signal.SIGTERM)


async def _measure(options: argparse.Namespace) -> int:
    broken: list[str] = []
    with _server(options.rate) as server:
        hall = await _hall(server)
        broken += await _storm(hall, server, options.phones, options.storm_s)
        await _play(hall, options.tokens, server)  # the first one warms up
        broken += _late(await _play(hall, options.tokens, server, "all read"))
        hall.freeze(hall.phones[0])
        broken += _late(await _play(hall, options.tokens, server, "one frozen"))
        broken += await _restart(hall, server)
    with _server(options.rate) as server:
        hall = await _hall(server)
        await hall.storm(options.slow_hall - 1, options.storm_s)
        broken += await _slow(hall, options.tokens, server)
        hall.close()
    print("every promise was kept" if not broken else f"not kept: {'; '.join(broken)}")
    return 1 if broken else 0


async def _hall(server: Server) -> Hall:
    head, opened = await post(server.port, "/api/rooms", {})
    cookie = re.search(r"(?mi)^set-cookie: ([^;]+)", head)
    assert cookie is not None
    hall = Hall(server.port, opened["code"], cookie[1])
    await hall.open()
    return hall


async def _storm(hall: Hall, server: Server, phones: int, storm_s: float) -> list[str]:
    before_mb, before_s = server.memory_mb, server.cpu_s
    joins_ms = await hall.storm(phones, storm_s)
    cpu_ms = 1000 * (server.cpu_s - before_s) / phones
    grown_mb = server.memory_mb - before_mb
    print(
        f"storm: {len(joins_ms)} of {phones} joined within {storm_s:g} s; {_spread(joins_ms)}; "
        f"{cpu_ms:.1f} ms of the server's CPU and {1000 * grown_mb / phones:.0f} kB each"
    )
    p95_ms = percentile(joins_ms, 0.95) or 0.0
    return [] if len(joins_ms) == phones and p95_ms <= _JOIN_MS else ["all join, p95 within 5 s"]


async def _play(hall: Hall, tokens: int, server: Server, name: str = "") -> tuple[Round, str]:
    """One stimulus for all; told when it has a name."""
    before_s = server.cpu_s
    found = await hall.play(tokens)
    delays_ms = found.delays_ms()
    if name:
        print(
            f"{name}: {len(found.came)} phones, {len(delays_ms)} deliveries, {_spread(delays_ms)}; "
            f"{100 * found.merged():.1f} % merged; "
            f"{1e6 * (server.cpu_s - before_s) / len(delays_ms):.0f} µs of the server's CPU each"
        )
    return found, name


def _late(played: tuple[Round, str]) -> list[str]:
    found, name = played
    return [f"p95 delivery within 100 ms ({name})"] if _p95(found) > _DELIVERY_MS else []


async def _restart(hall: Hall, server: Server) -> list[str]:
    """``kill -9``, and start again on the same port: everybody comes back, nobody all at once."""
    hall.thaw()
    returning = asyncio.create_task(come_back(hall.phones, server.port, hall.code, random.Random(7)))
    await asyncio.to_thread(server.end, signal.SIGKILL)
    await asyncio.to_thread(server.start)
    found = await returning
    most = max(found.connects.values())
    print(
        f"restart: {len(found.back_s)} of {len(hall.phones)} back, the last after {max(found.back_s):.1f} s, "
        f"half within {percentile(found.back_s, 0.5) or 0.0:.1f} s; at most {most} connects in a second; "
        f"{len(found.epochs)} epoch"
    )
    broken = [] if max(found.back_s) <= _BACK_S and len(found.epochs) == 1 else ["all back within 30 s"]
    return broken + (["at most 60 connects a second"] if most > _CONNECTS_PER_S else [])


async def _slow(hall: Hall, tokens: int, server: Server) -> list[str]:
    await _play(hall, tokens, server)
    clear, _ = await _play(hall, tokens, server, "before the slow one")
    slow = await hall.add_slow(_SLOW_BYTES_PER_S)
    found, _ = await _play(hall, tokens, server, "one at 8 kbit/s")
    sizes = [last - first + 1 for first, last, _ in found.came[slow]]
    print(
        f"the slow one: {sum(sizes)} tokens in {len(sizes)} frames, at most {max(sizes)} in one, "
        f"{'whole' if found.is_whole(slow) else 'NOT whole'}; "
        f"the others' p95 {_p95(found) / _p95(clear):.2f} times what it was"
    )
    broken = [] if found.is_whole(slow) else ["the slow phone has the whole text"]
    return broken + _late((found, "one slow"))


def _p95(found: Round) -> float:
    return percentile(found.delays_ms(), 0.95) or 0.0


def _spread(values_ms: list[float]) -> str:
    p50, p95 = percentile(values_ms, 0.5) or 0.0, percentile(values_ms, 0.95) or 0.0
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, longest {max(values_ms):.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
