"""State: everything a room knows, as one frozen value, and what it can ask to be done.

The value is what is stored, word for word: no socket, task or clock is in it. Commands make the
next one (room). An effect is what has to happen outside: play, stop, expel, forget.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from app.rooms.ballot import order_of
from app.rooms.commands import Phase
from app.rooms.round import Card, Round
from app.rooms.sending import Sending

#: What the teacher may go on to from each phase; ``idle`` ends whatever goes on.
NEXT: dict[Phase, tuple[Phase, ...]] = {
    "idle": (),
    "predict": ("watch", "idle"),
    "watch": ("watch", "vote", "idle"),
    "vote": ("reveal", "idle"),
    "reveal": ("discuss", "idle"),
    "discuss": ("vote", "idle"),
    "collect": ("sending", "idle"),
    "sending": ("results", "idle"),
    "results": ("idle",),
}
#: Phases in which nothing would be lost by something new.
RESTING: frozenset[Phase] = frozenset(("idle", "reveal", "discuss", "results"))
#: Rounds and sendings that one room keeps; a lesson has a handful.
MAX_KEPT = 60


class Participant(msgspec.Struct, frozen=True, omit_defaults=True):
    """One phone. ``key`` is a digest of its secret; ``number`` is what everybody else knows it by."""

    number: int
    key: str
    nickname: str = ""
    approved: bool = False
    spin: int = 0
    online: bool = False


class Room(msgspec.Struct, frozen=True, omit_defaults=True):
    """One room. ``seed`` draws orders and nicknames; keys are digests, the wall's token is not secret."""

    code: str
    seed: str
    host_key: str
    wall_token: str
    created_epoch_s: float
    title: str = ""
    phase: Phase = "idle"
    closed: bool = False
    frozen: bool = False
    blank: bool = False
    hide_count: bool = False
    hands_only: bool = False
    host_online: bool = False
    participants: dict[int, Participant] = {}
    next_number: int = 1
    next_id: int = 1
    round: Round | None = None
    sending: Sending | None = None
    rounds: tuple[Round, ...] = ()
    sendings: tuple[Sending, ...] = ()
    spotlight: int | None = None

    def online(self) -> tuple[int, ...]:
        """Numbers of the phones that are connected, first come first."""
        return tuple(sorted(p.number for p in self.participants.values() if p.online))

    @property
    def speed(self) -> float:
        """How fast a stimulus runs: a frozen room stands."""
        return 0.0 if self.frozen or self.round is None else self.round.speed

    @property
    def busy(self) -> bool:
        """Whether an engine works for this room just now."""
        stimulus = self.round.stimulus if self.round is not None else None
        return self.phase == "sending" or (stimulus is not None and stimulus.state == "running")

    @property
    def enough_voted(self) -> bool:
        """Whether nine of ten connected phones that watched have voted."""
        assert self.round is not None
        here = self.round.watchers & set(self.online())
        voted = sum(self.round.choice(self.card_of(number)) is not None for number in here)
        return bool(here) and 10 * voted >= 9 * len(here)

    def card_of(self, number: int) -> Card:
        """A participant's card in the open round; a fresh one when it has said nothing yet."""
        assert self.round is not None
        card = self.round.cards.get(number)
        if card is not None:
            return card
        if not self.round.plan.mirror:
            return Card(self.round.wall_order)
        return Card(order_of(self.seed, self.round.id, number))

    def with_card(self, number: int, card: Card) -> Room:
        assert self.round is not None
        cards = {**self.round.cards, number: card}
        return msgspec.structs.replace(self, round=msgspec.structs.replace(self.round, cards=cards))

    def with_participant(self, participant: Participant) -> Room:
        people = {**self.participants, participant.number: participant}
        return msgspec.structs.replace(self, participants=people)


# Effects


@dataclass(frozen=True, slots=True)
class Play:
    """Start the open round's stimulus, from its beginning; one that plays already is ended."""


@dataclass(frozen=True, slots=True)
class StopPlaying:
    """End the stimulus, if one plays."""


@dataclass(frozen=True, slots=True)
class Steer:
    """The stimulus takes the speed that the room has now."""


@dataclass(frozen=True, slots=True)
class StepOn:
    """The stimulus, which stands, goes one piece further."""


@dataclass(frozen=True, slots=True)
class CloseIn:
    """The open vote closes by itself, so long after now, or after when it would have (``later``)."""

    seconds: float
    later: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """Start the answers of the sending's line."""


@dataclass(frozen=True, slots=True)
class StopSending:
    """End all answers of the sending that still run."""


@dataclass(frozen=True, slots=True)
class SendOne:
    """Start the answer of this participant, who has pressed the button."""

    number: int


@dataclass(frozen=True, slots=True)
class Expel:
    """Close a participant's socket; ``why`` is a word for its page."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Erase:
    """Forget the room, in memory and on disk."""


Effect = (
    Play | StopPlaying | Steer | StepOn | CloseIn | Send | SendOne | StopSending | Expel | Erase
)  # fmt: skip
Next = tuple[Room, tuple[Effect, ...]]
