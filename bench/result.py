"""Result: everything one run of the benchmark found, as values. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.formulas import Cell
from bench.machine import Machine
from bench.scene import Scene


@dataclass(slots=True)
class PeerResult:
    """What one peer did."""

    name: str
    weights: str
    #: In process: a library called directly, without a server and its sockets.
    in_process: bool = False
    #: It answers one at a time: its one stream is not a competitor for gaps in a crowd.
    one_at_a_time: bool = False
    cold_start_s: float | None = None
    memory_mb: float | None = None
    cells: list[Cell] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)
    note: str = ""

    def cell(self, kind: str, users: int) -> Cell | None:
        """The cell of that kind and number of users, if it was measured."""
        return next((cell for cell in self.cells if (cell.kind, cell.users) == (kind, users)), None)


@dataclass(slots=True)
class Result:
    """One run."""

    machine: Machine
    tokens: int
    peers: list[PeerResult] = field(default_factory=list)
    absent: list[tuple[str, str]] = field(default_factory=list)

    def peer(self, name: str) -> PeerResult | None:
        """By the beginning of its name: "llama.cpp" finds "llama.cpp Q8_0"."""
        return next((peer for peer in self.peers if peer.name.startswith(name)), None)
