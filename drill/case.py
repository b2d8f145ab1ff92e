"""Case: one fault to play, its criterion, and what came of it. Pure.

It refuses to know how faults are played and where results are written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """How long and how much: ``quick`` for a look, else as the plan says.

    ``minutes`` overrides the length of every case that is told how long to last.
    """

    quick: bool = False
    minutes: float | None = None

    def lasting(self, quick: float, full: float) -> float:
        """Minutes of a case that lasts so long when quick, and so long in full."""
        if self.minutes is not None:
            return self.minutes
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Finding:
    """What was measured, in words with units, and whether it keeps the criterion; None: it was not played."""

    measured: str
    passed: bool | None


class NotPlayed(Exception):
    """What a case needs is not here; the message says what."""


@dataclass(frozen=True, slots=True)
class Case:
    """``play`` does it or raises NotPlayed; any other exception is a failure, its message the measurement.

    One that does nothing but wait is played ``aside``: beside the others, which follow one another.
    """

    id: str
    criterion: str
    play: Callable[[Scale], Awaitable[Finding]]
    aside: bool = False


HEAD = ["| case | criterion | measured | result | run |", "|---|---|---|---|---|"]


def row(case: Case, finding: Finding, run: str) -> str:
    """A line of the table; ``run`` says when and how it was played."""
    verdict = {True: "pass", False: "**FAIL**", None: "not played"}[finding.passed]
    return f"| {case.id} | {case.criterion} | {finding.measured.replace('|', '/')} | {verdict} | {run} |"


def merged(old: str, new: list[str]) -> str:
    """The table with the new rows in place of the old ones of the same cases, in their order."""
    rows = {line.split("|")[1].strip(): line for line in [*old.splitlines(), *new] if line.startswith("| ")}
    rows.pop("case", None)
    return "\n".join([*HEAD, *(rows[id] for id in sorted(rows))])
