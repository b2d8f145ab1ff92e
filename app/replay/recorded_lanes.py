"""Lanes of a recorded race: what each reader saw in its browser, and whether that fits together.

static/js/race/recording_rules.js has the same rules; tests/replay/golden_recordings.json holds both to
them. It refuses to know the rest of the recording.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from app.errors import BadRequest

MAX_T_MS = 3_600_000.0
MAX_LANES = 4
#: A first paint may follow the end by a frame, on a machine however slow; more is no paint of that text.
PAINT_GRACE_MS = 5000.0

Line = Annotated[str, msgspec.Meta(max_length=200)]
Ms = Annotated[float, msgspec.Meta(ge=0, le=MAX_T_MS)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Delivery = Literal["token", "word", "sentence", "smoothed", "whole"]


class LaneError(msgspec.Struct, frozen=True):
    code: Annotated[str, msgspec.Meta(max_length=64)]
    message: Annotated[str, msgspec.Meta(max_length=1000)]


class LaneSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the lane was read. ``pace`` is the server's share of ``delivery``, and stands for it alone too.

    ``link`` are the numbers of the simulated network ``link_name``. The flags say what was odd:
    the tab was hidden, or looked at in slow motion, or the reading stopped.
    """

    delivery: Delivery | msgspec.UnsetType = msgspec.UNSET
    pace: Delivery | msgspec.UnsetType = msgspec.UNSET
    wire: Literal["socket", "sse", "ndjson", "plain", "polling"] = "socket"
    link_name: Literal["direct", "good", "mobile", "tunnel", "proxy"] = "direct"
    link: dict[str, float] = {}
    reply: Annotated[str, msgspec.Meta(max_length=128)] | None = None
    hidden: bool = False
    late: bool = False
    stopped: bool = False
    error: LaneError | None = None


class LaneArrival(msgspec.Struct, frozen=True):
    at_ms: Ms
    seq: Count
    text: str
    tokens: Count
    words: Count


class Lane(msgspec.Struct, frozen=True):
    """What one reader saw, in ms since the click; written by the page that raced them."""

    label: Line
    settings: LaneSettings
    events: Annotated[list[dict[str, Any]], msgspec.Meta(max_length=50_000)] = []
    #: When the server let the first text go, on its own clock.
    first_out_t_ms: Ms | None = None
    arrivals: Annotated[list[LaneArrival], msgspec.Meta(max_length=50_000)] = []
    first_paint_ms: Ms | None = None
    last_paint_ms: Ms | None = None
    ended_ms: Ms | None = None


def check_lane(lane: Lane, reply_id: str, reply_text: str, where: str) -> None:
    """What types cannot say of a lane. Raises BadRequest that names the field below ``where``."""
    if lane.settings.delivery is msgspec.UNSET and lane.settings.pace is msgspec.UNSET:
        raise _wrong(f"{where}.settings", "have a delivery")
    _check_times(lane, where)
    if lane.settings.reply not in (None, reply_id):
        return  # each lane had a generation of its own
    read = "".join(arrival.text for arrival in lane.arrivals)
    complete = any(
        event.get("type") == "done" and event.get("finish_reason") != "cancelled" for event in lane.events
    )
    if read != reply_text if complete else not reply_text.startswith(read):
        raise _wrong(f"{where}.arrivals", "bring the text of reply.text, or its beginning")


# Private


def _check_times(lane: Lane, where: str) -> None:
    first_ms, last_ms, ended_ms = lane.first_paint_ms, lane.last_paint_ms, lane.ended_ms
    before_ms = 0.0
    for place, arrival in enumerate(lane.arrivals):
        if not before_ms <= arrival.at_ms <= (MAX_T_MS if ended_ms is None else ended_ms):
            raise _wrong(f"{where}.arrivals[{place}].at_ms", "not be before the last one or after the end")
        before_ms = arrival.at_ms
    if first_ms is not None:
        if not lane.arrivals:
            raise _wrong(f"{where}.first_paint_ms", "be absent where nothing arrived")
        if ended_ms is not None and not lane.settings.hidden and first_ms > ended_ms + PAINT_GRACE_MS:
            raise _wrong(f"{where}.first_paint_ms", f"be at most {PAINT_GRACE_MS:g} after ended_ms")
    if last_ms is not None and (first_ms is None or last_ms < first_ms):
        raise _wrong(f"{where}.last_paint_ms", "not be before first_paint_ms")


def _wrong(field: str, what: str) -> BadRequest:
    return BadRequest(f"{field} must {what}", param=field)
