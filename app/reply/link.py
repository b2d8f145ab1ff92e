"""A simulated network for lessons: when each frame of one reader reaches the far end. Pure.

Frames go in with their size and the moment they were ready; out comes when each is to be delivered.
On its way a frame passes a buffering proxy (``flush_bytes``, ``flush_ms``), then a line of so many
``kbps``, then the distance (``latency_ms``, ``jitter_ms``), and now and then a packet is lost and
sent again (``loss_percent``, ``stall_ms``). As in TCP the order is kept: behind a lost packet
everything waits. The same seed makes the same weather. It refuses to know sockets, clocks and text.
"""

from __future__ import annotations

import random
from typing import Annotated

import msgspec
from msgspec import Meta

#: What a lost packet costs at first before it is sent again, where a sender knows nothing of the
#: way yet (RFC 6298, section 2): it is also what a passenger in a tunnel sees.
DEFAULT_STALL_MS = 1000.0
#: Bytes of one packet; a longer frame has more chances to lose one.
_PACKET_BYTES = 1400


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One link's properties; ``kbps`` None: as wide as wanted, ``flush_*`` None: no such rule.

    The limits are those of every wire, which reads them here. With neither flush rule nothing is held
    back. With ``flush_bytes`` alone text is held until so many bytes are together or the answer is over,
    which is what careless proxies do.
    """

    latency_ms: Annotated[float, Meta(ge=0, le=5000)] = 0.0
    jitter_ms: Annotated[float, Meta(ge=0, le=2000)] = 0.0
    kbps: Annotated[float, Meta(ge=1, le=100_000)] | None = None
    loss_percent: Annotated[float, Meta(ge=0, le=50)] = 0.0
    stall_ms: Annotated[float, Meta(ge=0, le=5000)] = DEFAULT_STALL_MS
    #: At most as much as a careless proxy collects.
    flush_bytes: Annotated[int, Meta(ge=1, le=65_536)] | None = None
    flush_ms: Annotated[float, Meta(ge=1, le=30_000)] | None = None
    #: At most what every JSON reader has exactly.
    seed: Annotated[int, Meta(ge=0, le=2**53)] = 0


class LinkPlan:
    """One reader's frames on one link. Times are milliseconds on any one clock, never going back."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._chance = random.Random(link.seed)
        #: Sizes of the frames that the proxy holds, oldest first.
        self._held: list[int] = []
        self._held_since_ms = 0.0
        self._line_free_ms = float("-inf")
        self._delivered_ms = float("-inf")

    @property
    def flush_at_ms(self) -> float | None:
        """When the proxy lets go of what it holds, whether more comes or not; None: it never does."""
        if not self._held or self._link.flush_ms is None:
            return None
        return self._held_since_ms + self._link.flush_ms

    def send(self, size_bytes: int, ready_ms: float, *, last: bool = False) -> list[float]:
        """Take the next frame; returns when the frames that leave by now are delivered, oldest first.

        Fewer than were sent leave while the proxy holds some; with ``last`` all do.
        """
        leaving = self.flush_due(ready_ms)
        if not self._held:
            self._held_since_ms = ready_ms
        self._held.append(size_bytes)
        if last or self._is_full():
            leaving += self.flush(ready_ms)
        return leaving

    def flush_due(self, now_ms: float) -> list[float]:
        """When the frames are delivered whose time in the proxy is over."""
        at_ms = self.flush_at_ms
        return self.flush(at_ms) if at_ms is not None and at_ms <= now_ms else []

    def flush(self, now_ms: float) -> list[float]:
        """Nothing more will come: when the frames are delivered that the proxy still held."""
        sizes, self._held = self._held, []
        return [self._deliver(size, now_ms) for size in sizes]

    # Private

    def _is_full(self) -> bool:
        link = self._link
        if link.flush_bytes is None:
            return link.flush_ms is None
        return sum(self._held) >= link.flush_bytes

    def _deliver(self, size_bytes: int, left_ms: float) -> float:
        link = self._link
        begins_ms = max(left_ms, self._line_free_ms)
        # A kilobit a second is a bit a millisecond.
        self._line_free_ms = begins_ms + (size_bytes * 8 / link.kbps if link.kbps is not None else 0.0)
        arrives_ms = self._line_free_ms + link.latency_ms + self._chance.uniform(0.0, link.jitter_ms)
        packets = max(1, -(-size_bytes // _PACKET_BYTES))
        if any(self._chance.uniform(0.0, 100.0) < link.loss_percent for _ in range(packets)):
            arrives_ms += link.stall_ms
        self._delivered_ms = max(self._delivered_ms, arrives_ms)
        return self._delivered_ms
