"""Ballot: what a phone sees first, and what its vote means. Pure.

Whatever comes first is at an advantage, so half the phones see the lanes the other way round. The
order is drawn in permuted blocks of four: of any four that join one after another two have each
order, so the halves stay equal however many come late. A vote names a position on that phone, 1
or 2; counting is by lane, ``a`` or ``b``. It refuses to know rooms and rounds.
"""

from __future__ import annotations

import hashlib
from typing import Literal

Order = Literal["ab", "ba"]
LaneId = Literal["a", "b"]
#: ``same``: cannot tell.
LaneChoice = Literal["a", "b", "same"]
PositionChoice = Literal["1", "2", "same"]
Position = Literal["1", "2"]

BLOCK = 4
#: All ways to have each order twice in a block.
_BLOCKS = ("0011", "0101", "0110", "1001", "1010", "1100")


def order_of(seed: str, round_id: int, number: int) -> Order:
    """The order on the phone of participant ``number`` (from 1) in a round."""
    block, place = divmod(number - 1, BLOCK)
    digest = hashlib.blake2b(f"{seed}:{round_id}:{block}".encode(), digest_size=8).digest()
    pattern = _BLOCKS[int.from_bytes(digest) % len(_BLOCKS)]
    return "ab" if pattern[place] == "0" else "ba"


def lane_at(order: Order, choice: PositionChoice) -> LaneChoice:
    """Which lane a vote for a position means."""
    match choice:
        case "same":
            return "same"
        case "1":
            return "a" if order == "ab" else "b"
        case "2":
            return "b" if order == "ab" else "a"


def position_of(order: Order, lane: LaneId) -> Position:
    """Where a lane stands on a phone."""
    return "1" if order[0] == lane else "2"
