"""Finding: one thing that is wrong, what was seen of it, and what helps.

It refuses to know how it was found.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.client.doctor.fixes import FIXES

#: error: users or clients suffer now. warning: they will behind the next proxy or with another client.
Severity = Literal["error", "warning"]


class Finding(msgspec.Struct, frozen=True):
    """``code`` is stable, for programs; ``what`` has the numbers that were seen."""

    code: str
    severity: Severity
    what: str
    fix: str


class Diagnosis(msgspec.Struct, frozen=True):
    """``streams`` None: it could not be told. Notes are no findings: hints, and what cannot be known."""

    streams: bool | None
    findings: list[Finding]
    notes: list[str]


def error(code: str, what: str, fix: str | None = None) -> Finding:
    """A finding that hurts now; its fix is the code's own unless given."""
    return Finding(code, "error", what, fix or FIXES[code])


def warning(code: str, what: str, fix: str | None = None) -> Finding:
    """A finding that will hurt."""
    return Finding(code, "warning", what, fix or FIXES[code])
