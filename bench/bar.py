"""The bar: what Firstword promises beside its peers, and whether a run keeps it. Pure.

Each promise is a ratio to the best server of that cell which the run has (an estimate is named as
one), or a number of a scene. A promise without a peer to compare with says so. It refuses to know
how anything was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench.formulas import ratio
from bench.result import PeerResult, Result

Metric = Literal["ttft_p50_ms", "gap_p50_ms", "gap_p99_ms", "tokens_per_s"]
OURS = "firstword"


@dataclass(frozen=True, slots=True)
class Promise:
    """A cell's metric of ours ÷ the best server's: at most, or at least, ``limit``."""

    kind: str
    users: int
    metric: Metric
    limit: float

    @property
    def more_is_better(self) -> bool:
        return self.metric == "tokens_per_s"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``value`` None: not measured, ``note`` says why."""

    promise: str
    limit: str
    value: float | None
    kept: bool | None
    note: str


_AGAINST_SERVERS = (
    Promise("short", 1, "gap_p50_ms", 1.1),
    Promise("short", 1, "ttft_p50_ms", 1.0),
    Promise("short", 16, "tokens_per_s", 1.1),
    Promise("short", 16, "ttft_p50_ms", 1.0),
    Promise("long", 1, "ttft_p50_ms", 1.1),
    Promise("long", 16, "tokens_per_s", 1.1),
    Promise("long", 16, "gap_p99_ms", 0.4),
)
#: Peer -> the least share of its tokens/s in every cell.
_IN_EVERY_CELL = (("transformers serve", 3.0), ("OpenVINO GenAI", 0.7))
#: Beginning of a scene's name -> the most it may be.
_SCENES = (("a 600-token prompt arrives", 2.5), ("second turn", 3.0))


def verdicts(result: Result) -> list[Verdict]:
    """Every promise held against ``result``."""
    ours = result.peer(OURS)
    if ours is None:
        return []
    servers = [peer for peer in result.peers if peer is not ours and not peer.in_process]
    found = [_against_best(promise, ours, servers) for promise in _AGAINST_SERVERS]
    for name, least in _IN_EVERY_CELL:
        found += _in_every_cell(name, least, ours, result.peers)
    return found + [verdict for name, most in _SCENES for verdict in _scenes(name, most, ours)]


# Private


def _against_best(promise: Promise, ours: PeerResult, servers: list[PeerResult]) -> Verdict:
    what = f"{promise.kind}, {promise.users} users: {promise.metric} ÷ the best server's"
    limit = f"{'≥' if promise.more_is_better else '≤'} {promise.limit:g}"
    theirs = [
        (value, peer.name)
        for peer in servers
        if not (peer.one_at_a_time and promise.users > 1 and promise.metric.startswith("gap"))
        and (value := _metric(peer, promise)) is not None
    ]
    own = _metric(ours, promise)
    if own is None or not theirs:
        return Verdict(
            what, limit, None, None, "no other server in this run" if own is not None else "not run"
        )
    best, name = (max if promise.more_is_better else min)(theirs)
    value = ratio(own, best)
    kept = value is not None and (
        value >= promise.limit if promise.more_is_better else value <= promise.limit
    )
    return Verdict(what, limit, value, kept, f"{own:.1f} and {best:.1f} ({name})")


def _metric(peer: PeerResult, promise: Promise) -> float | None:
    cell = peer.cell(promise.kind, promise.users)
    value = None if cell is None or cell.ok < cell.requests else getattr(cell, promise.metric)
    assert value is None or isinstance(value, float)
    return value


def _in_every_cell(name: str, least: float, ours: PeerResult, peers: list[PeerResult]) -> list[Verdict]:
    found = []
    for peer in [peer for peer in peers if peer.name.startswith(name)]:
        shares = []
        for theirs in peer.cells:
            own = ours.cell(theirs.kind, theirs.users)
            share = ratio(own.tokens_per_s, theirs.tokens_per_s) if own else None
            if share is not None:
                shares.append((share, f"{theirs.kind}, {theirs.users}"))
        worst, where = min(shares) if shares else (None, "no common cell")
        found.append(
            Verdict(
                f"every cell: tokens_per_s ÷ that of {peer.name}",
                f"≥ {least:g}",
                worst,
                None if worst is None else worst >= least,
                f"least at {where}",
            )
        )
    return found


def _scenes(name: str, most: float, ours: PeerResult) -> list[Verdict]:
    limit = f"≤ {most:g}"
    return [
        Verdict(
            scene.name, limit, scene.value, None if scene.value is None else scene.value <= most, scene.note
        )
        for scene in ours.scenes
        if scene.name.startswith(name)
    ] or [Verdict(name, limit, None, None, "not run")]
