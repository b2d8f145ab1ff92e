"""``python -m bench.rooms_load``: a lecture hall on one server: 500 phones on one stream.

A join storm (all within ten seconds), then one stimulus at 20 tokens a second for everybody, then the
same with one phone that has stopped reading. Delivery is from the moment a token was made to the
moment a phone's socket had it; both clocks are this machine's one monotonic clock. Server and phones
share its cores, so the numbers are worse than a class would see.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from bench.formulas import percentile
from bench.room_hall import Hall, Round
from bench.room_phone import post


def main() -> int:
    """Measure and print. Returns the exit code: 1 when a promise was not kept."""
    parser = argparse.ArgumentParser("python -m bench.rooms_load", description="500 phones in one room.")
    parser.add_argument("--phones", type=int, default=500)
    parser.add_argument("--storm-s", type=float, default=10.0, help="all join within so long")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20.0, help="tokens a second")
    options = parser.parse_args()
    with _server(options.rate) as (port, process):
        return asyncio.run(_measure(options, port, process))


# Private


@contextmanager
def _server(rate: float) -> Iterator[tuple[int, psutil.Process]]:
    """A scripted server in a process of its own, with one word for each token."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps([[f"{number} ", 1000 / rate] for number in range(1000)]))
        command = [sys.executable, "-m", "app", "serve", "--engine", "scripted", "--script", str(script)]
        child = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True)
        try:
            assert child.stdout is not None
            found = re.search(r":(\d+)$", child.stdout.readline().strip())
            assert found is not None, "the server did not say where it is"
            yield int(found[1]), psutil.Process(child.pid)
        finally:
            child.terminate()
            child.wait(20)


async def _measure(options: argparse.Namespace, port: int, process: psutil.Process) -> int:
    head, opened = await post(port, "/api/rooms", {})
    cookie = re.search(r"(?mi)^set-cookie: ([^;]+)", head)
    assert cookie is not None
    hall = Hall(port, opened["code"], cookie[1])
    await hall.open()
    before_mb, before_s = process.memory_info().rss / 1e6, _cpu_s(process)
    joins_ms = await hall.storm(options.phones, options.storm_s)
    cpu_ms = 1000 * (_cpu_s(process) - before_s) / options.phones
    print(
        f"joined: {len(joins_ms)} of {options.phones} within {options.storm_s:g} s; {_spread(joins_ms)}; "
        f"{cpu_ms:.1f} ms of the server's CPU each"
    )
    grown_mb = process.memory_info().rss / 1e6 - before_mb
    print(f"memory: {grown_mb:.0f} MB more, {1000 * grown_mb / options.phones:.0f} kB a phone")
    await _play(hall, options.tokens, process)  # the first one warms up
    clear = await _play(hall, options.tokens, process)
    _tell("all read", clear)
    hall.freeze(hall.phones[0])
    frozen = await _play(hall, options.tokens, process)
    _tell("one frozen", frozen)
    hall.close()
    late = [name for name, found in (("all read", clear), ("one frozen", frozen)) if _p95(found[0]) > 100]
    if late or len(joins_ms) < options.phones or (percentile(joins_ms, 0.95) or 0) > 5000:
        print("not kept: p95 delivery within 100 ms, all joined, p95 of joining within 5 s", late)
        return 1
    return 0


async def _play(hall: Hall, tokens: int, process: psutil.Process) -> tuple[Round, float]:
    """One stimulus; (what was heard, the server's CPU time in s)."""
    before_s = _cpu_s(process)
    found = await hall.play(tokens)
    return found, _cpu_s(process) - before_s


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _tell(name: str, played: tuple[Round, float]) -> None:
    found, cpu_s = played
    delays_ms = found.delays_ms()
    print(
        f"{name}: {len(found.came)} phones, {len(delays_ms)} deliveries, {_spread(delays_ms)}; "
        f"{100 * found.merged():.1f} % merged; {1e6 * cpu_s / len(delays_ms):.0f} µs of the server's CPU each"
    )


def _p95(found: Round) -> float:
    return percentile(found.delays_ms(), 0.95) or 0.0


def _spread(values_ms: list[float]) -> str:
    p50, p95 = percentile(values_ms, 0.5) or 0.0, percentile(values_ms, 0.95) or 0.0
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, longest {max(values_ms):.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
