"""``python -m bench``: every server in turn, then one report. See ``--help`` and RESULTS.md."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from bench import openvino
from bench.formulas import cell
from bench.load import Load
from bench.machine import machine
from bench.peers import Absent, Peer, peers
from bench.prompts import KINDS
from bench.reference import estimates
from bench.report import markdown, progress, replaced
from bench.result import PeerResult, Result
from bench.scenes import SCENES
from bench.servers import NoServer, Running, running

_RESULTS = Path(__file__).with_name("RESULTS.md")
#: A peer that answers one at a time is asked by no more than so many.
_MOST_USERS_OF_A_LINE = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write. Returns the exit code: 1 when a server failed."""
    options = _options().parse_args(arguments)
    work = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "firstword" / "bench"
    work.mkdir(parents=True, exist_ok=True)
    result = Result(machine(), options.tokens)
    # The collector's pauses would be gaps of the servers.
    gc.disable()
    # Being told to go must still end the server that is running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        failed = uvloop.run(_measure(options, work, result))
        _openvino(options, result)
    except KeyboardInterrupt:
        print("interrupted: what follows is what was measured until then", file=sys.stderr)
        failed = True
    result.peers += estimates(result)
    report = markdown(result, options.base)
    print("\n" + report)
    if options.json:
        Path(options.json).write_text(json.dumps(dataclasses.asdict(result), indent=1) + "\n")
    if options.write:
        before = _RESULTS.read_text() if _RESULTS.exists() else "# Results\n"
        _RESULTS.write_text(replaced(before, report))
    return 1 if failed else 0


# Private


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m bench", description="Firstword beside other servers, on this machine."
    )
    parser.add_argument("--quick", action="store_true", help="1 and 16 users, one round, no scenes")
    parser.add_argument("--peers", default="", help="only those whose name begins so; comma-separated")
    parser.add_argument("--engine", default="local", help="Firstword's engine: local or scripted")
    parser.add_argument("--users", default="1,4,8,16", help="numbers of users [default: 1,4,8,16]")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of prompts [default: short,long]")
    parser.add_argument(
        "--rounds", type=int, default=2, help="questions of each user; twice as many of one alone"
    )
    parser.add_argument("--tokens", type=int, default=96, help="tokens of an answer [default: 96]")
    parser.add_argument("--limit-s", type=float, default=300.0, help="longest that one answer may take")
    parser.add_argument(
        "--base", default=None, help="peer that ratios are taken to [default: the first beside ours]"
    )
    parser.add_argument("--no-scenes", action="store_true", help="the cells only")
    parser.add_argument("--scenes", default="", help="scenes with those only, as in --peers; cells with all")
    parser.add_argument("--write", action="store_true", help="write the report into bench/RESULTS.md")
    parser.add_argument("--json", default="", help="write the raw numbers to this file")
    return parser


async def _measure(options: argparse.Namespace, work: Path, result: Result) -> bool:
    """Every server in turn; True when one of them failed."""
    failed = False
    for peer in peers(work, options.engine, options.peers.split(",")):
        if isinstance(peer, Absent):
            result.absent.append((peer.name, peer.reason))
            continue
        try:
            async with running(peer) as server:
                await _one(options, server, result)
        except NoServer as error:
            print(error, file=sys.stderr)
            result.absent.append((peer.name, "it failed: " + " ".join(str(error).split())[-200:]))
            failed = True
    return failed


async def _one(options: argparse.Namespace, server: Running, result: Result) -> None:
    """All cells and scenes of one running server, into ``result``."""
    peer = server.peer
    # Promises are held against our own pairs; a peer's say only where it stands.
    load = Load(server, options.tokens, options.limit_s, pairs=20 if peer.own_wire else 5)
    found = PeerResult(peer.name, peer.weights, one_at_a_time=peer.one_at_a_time)
    first = await load.stream(load.question("short"), 1)
    if first.error is not None:
        raise NoServer(f"{peer.name}: its first answer failed: {first.error}")
    found.cold_start_s = (first.arrivals_ns[0] - server.spawned_ns) / 1e9
    result.peers.append(found)
    kinds = tuple(options.kinds.split(","))
    await load.warm_up(kinds)
    found.memory_mb = server.resident_mb()
    for kind in kinds:
        for users in _users(options, peer):
            rounds = 1 if options.quick else options.rounds * (2 if users == 1 else 1)
            found.cells.append(cell(kind, users, await load.closed_loop(kind, users, rounds)))
            found.memory_mb = max(found.memory_mb, server.resident_mb())
            print(progress(peer.name, found.cells[-1]), flush=True)
            gc.collect()
    silent = options.quick or options.no_scenes or peer.one_at_a_time
    if not silent and _named(peer.name, options.scenes):
        for play in SCENES:
            found.scenes.append(await play(load))
            scene = found.scenes[-1]
            print(f"{peer.name:<40} {scene.name}: {scene.value} {scene.unit} ({scene.note})", flush=True)


def _users(options: argparse.Namespace, peer: Peer) -> list[int]:
    numbers = [1, 16] if options.quick else [int(number) for number in options.users.split(",")]
    return [n for n in numbers if n <= _MOST_USERS_OF_A_LINE] if peer.one_at_a_time else numbers


def _named(name: str, starts: str) -> bool:
    return not starts or any(name.startswith(start) for start in starts.split(","))


def _openvino(options: argparse.Namespace, result: Result) -> None:
    if not _named(openvino.NAME, options.peers):
        return
    users = [1, 16] if options.quick else [int(number) for number in options.users.split(",")]
    rounds = 1 if options.quick else options.rounds
    found = openvino.measure(options.kinds.split(","), users, rounds, options.tokens)
    if isinstance(found, str):
        result.absent.append((openvino.NAME, found))
        return
    result.peers.append(found)
    for measured in found.cells:
        print(progress(found.name, measured), flush=True)


if __name__ == "__main__":
    sys.exit(main())
