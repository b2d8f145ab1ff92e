"""Round: one stimulus, what the class said about it, and what may follow.

A card is what one participant said in one round. A phone that came after the stimulus began has
not seen it, so it holds no card for the vote. Frozen values and small questions about them; pure.
It refuses to know who the participants are.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.rooms.ballot import LaneChoice, LaneId, Order, PositionChoice
from app.rooms.plan import RoundPlan
from app.rooms.playhead import Playhead
from app.rooms.results import Results

StimulusState = Literal["running", "ended", "failed", "lost"]


class Felt(msgspec.Struct, frozen=True):
    """How long each lane felt, in seconds."""

    a: float
    b: float


class Sight(msgspec.Struct, frozen=True):
    """What a phone says it showed: ms from the stimulus's beginning to the first paint of each lane."""

    stimulus: str
    first_paint_ms: dict[LaneId, float]
    hidden: bool
    clock_error_ms: float = 0.0


class Card(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one participant said in a round. The last vote before the close counts."""

    order: Order
    predict: LaneChoice | None = None
    vote: PositionChoice | None = None
    revote: PositionChoice | None = None
    felt: Felt | None = None
    sight: Sight | None = None


class Stimulus(msgspec.Struct, frozen=True):
    """One playing of the round's stimulus; ``started_ms`` on the server's clock.

    ``altered``: the teacher has stopped it or slowed it down, so nobody saw it as it came.
    """

    id: str
    started_ms: float
    state: StimulusState = "running"
    first_text_ms: dict[LaneId, float] = {}
    message: str = ""
    #: The error's own, when it has failed; empty when it is lost.
    code: str = ""
    playhead: Playhead = Playhead()
    altered: bool = False


class Hands(msgspec.Struct, frozen=True):
    """Hands up, counted by the teacher, by position on the wall."""

    first: int
    second: int
    same: int


class Round(msgspec.Struct, frozen=True, omit_defaults=True):
    """``watchers`` were there when the stimulus began: they may vote."""

    id: int
    plan: RoundPlan
    cards: dict[int, Card] = {}
    watchers: frozenset[int] = frozenset()
    stimulus: Stimulus | None = None
    hands: Hands | None = None
    revoting: bool = False
    #: The teacher's wish for the speed of the stimulus.
    speed: float = 1.0
    #: When the open vote closes by itself, on the server's clock; None: it does not, or not yet.
    closes_ms: float | None = None
    results: Results | None = None
    revote_results: Results | None = None

    @property
    def wall_order(self) -> Order:
        return "ba" if self.plan.flip else "ab"

    @property
    def num_votes(self) -> int:
        """Ballots cast in the vote that is open now."""
        return sum(self.choice(card) is not None for card in self.cards.values())

    def choice(self, card: Card) -> PositionChoice | None:
        """A card's choice in the current vote."""
        return card.revote if self.revoting else card.vote
