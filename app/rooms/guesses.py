"""Guesses: how often one address may name a room that is not there. Pure; the clock is passed in.

A whole class shares one address, so what succeeds is never limited, and what failed is not held
against those who know better: an address over the limit still gets into every room that somebody at
this address has got into before. A guesser gains nothing by that, for such a code is known to him.
It refuses to know which rooms exist.
"""

from __future__ import annotations

from collections import OrderedDict, deque

_WINDOW_NS = 60_000_000_000
#: Addresses remembered, and rooms of each; the longest unseen goes first.
_MAX_ADDRESSES = 10_000
_MAX_CODES = 64


class _Address:
    __slots__ = ("codes", "failures_ns")

    def __init__(self) -> None:
        self.failures_ns: deque[int] = deque()
        self.codes: OrderedDict[str, None] = OrderedDict()


class Guesses:
    """``per_minute`` failures of one address; from then on it hears "too many" for a while."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._addresses: OrderedDict[str, _Address] = OrderedDict()

    def may_try(self, address: str, code: str, now_ns: int) -> bool:
        """Whether this address may be told if there is such a room."""
        entry = self._addresses.get(address)
        if entry is None or code in entry.codes:
            return True
        while entry.failures_ns and now_ns - entry.failures_ns[0] >= _WINDOW_NS:
            entry.failures_ns.popleft()
        return len(entry.failures_ns) < self._per_minute

    def fail(self, address: str, now_ns: int) -> None:
        """It named a room that is not there."""
        failures = self._entry(address).failures_ns
        failures.append(now_ns)
        if len(failures) > self._per_minute:
            failures.popleft()

    def succeed(self, address: str, code: str) -> None:
        """It named one that is."""
        codes = self._entry(address).codes
        codes[code] = None
        codes.move_to_end(code)
        if len(codes) > _MAX_CODES:
            codes.popitem(last=False)

    # Private

    def _entry(self, address: str) -> _Address:
        entry = self._addresses.setdefault(address, _Address())
        self._addresses.move_to_end(address)
        if len(self._addresses) > _MAX_ADDRESSES:
            self._addresses.popitem(last=False)
        return entry
