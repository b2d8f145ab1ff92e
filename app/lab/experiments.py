"""Which experiments there are, in the order in which the lab shows them. Pure.

A name is the last part of an experiment's address, and what its words and modules are called by. It
refuses to know what an experiment does.
"""

from __future__ import annotations

EXPERIMENTS: tuple[str, ...] = ("batching", "backpressure", "proxy", "protocols", "apart", "obvious")


def number_of(name: str) -> int | None:
    """The experiment's number, from 1; None where there is no such experiment."""
    return EXPERIMENTS.index(name) + 1 if name in EXPERIMENTS else None
