"""Commands: what a teacher and a participant can say to a room, as the JSON that says it.

A teacher's commands come from the console, a participant's from a phone. Reading checks types, ranges
and unknown fields. It refuses to know who may say what (permission), what follows (room), and what
the room's own server notices (notices).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.errors import BadRequest, unreadable
from app.rooms.ballot import LaneId
from app.rooms.notices import Notice
from app.rooms.plan import Millis, Name, RoundPlan, SendingPlan, Text

Phase = Literal[
    "idle", "predict", "watch", "vote", "reveal", "discuss", "collect", "sending", "results"
]  # fmt: skip
BallotName = Literal["predict", "vote", "revote"]
Choice = Literal["1", "2", "same", "a", "b"]
Number = Annotated[int, Meta(ge=1, le=1_000_000)]
Hands = Annotated[int, Meta(ge=0, le=2000)]
FeltS = Annotated[float, Meta(ge=0, le=600)]
MAX_COMMAND_BYTES = 16_384


class Command(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Base of both."""


# The teacher's


class OpenRound(Command, tag="open_round", frozen=True):
    plan: RoundPlan


class OpenSending(Command, tag="open_sending", frozen=True):
    plan: SendingPlan


class Advance(Command, tag="advance", frozen=True):
    """Go on to a phase. ``since`` is the phase that the teacher saw: a second click does nothing."""

    to: Phase
    since: Phase


class Hold(Command, tag="hold", frozen=True):
    """The teacher's hand on the room; what is not named stays."""

    freeze: bool | None = None
    blank: bool | None = None
    hide_count: bool | None = None
    hands_only: bool | None = None


class Speed(Command, tag="speed", frozen=True):
    """How fast the stimulus runs, now and when it is played again; never faster than it is made."""

    speed: Annotated[float, Meta(ge=0.1, le=1)]


class Step(Command, tag="step", frozen=True):
    """One piece further, while the room is frozen."""


class MoreTime(Command, tag="more_time", frozen=True):
    """A vote that would close by itself stays open for longer."""


class Spotlight(Command, tag="spotlight", frozen=True):
    """Show this participant's prompt on the wall; null: none."""

    number: Number | None


class Approve(Command, tag="approve", frozen=True):
    """Let nicknames be seen, or no longer; null: all that are there."""

    number: Number | None
    approved: bool = True


class Kick(Command, tag="kick", frozen=True):
    number: Number


class Tally(Command, tag="tally", frozen=True):
    """Hands up, counted by the teacher, by position on the wall."""

    first: Hands
    second: Hands
    same: Hands


class CloseRoom(Command, tag="close_room", frozen=True):
    """Nobody takes part any more; results stay until they are deleted."""


class DeleteRoom(Command, tag="delete_room", frozen=True):
    """Everything is forgotten, now."""


# A participant's


class Vote(Command, tag="vote", frozen=True):
    """``predict`` takes a lane (a, b), the others a position (1, 2); all take ``same``."""

    round: Number
    ballot: BallotName
    choice: Choice


class Felt(Command, tag="felt", frozen=True):
    """How long each position felt, in seconds."""

    round: Number
    first_s: FeltS
    second_s: FeltS


class Seen(Command, tag="seen", frozen=True):
    """What this phone really showed: first paint of each lane, in ms since the stimulus began."""

    round: Number
    stimulus: Name
    first_paint_ms: Annotated[dict[LaneId, Millis], Meta(max_length=2)]
    hidden: bool = False
    clock_error_ms: Millis = 0.0


class Nickname(Command, tag="nickname", frozen=True):
    """Have one, or another one; or none."""

    wanted: bool = True


class Ask(Command, tag="ask", frozen=True):
    """The own prompt for a sending."""

    text: Text


class SendOwn(Command, tag="send_own", frozen=True):
    """Send the own prompt now, in a sending in everybody's own time."""


class Measured(Command, tag="measured", frozen=True):
    """This phone's own first word: from the start (or its click) to the first paint, in ms."""

    reply: Name
    first_word_ms: Millis
    hidden: bool = False
    clock_error_ms: Millis = 0.0


class Leave(Command, tag="leave", frozen=True):
    """Be forgotten: votes already counted stay, without a name."""


HostCommand = (
    OpenRound | OpenSending | Advance | Hold | Speed | Step | MoreTime | Spotlight | Approve | Kick | Tally
    | CloseRoom | DeleteRoom
)  # fmt: skip
ParticipantCommand = Vote | Felt | Seen | Nickname | Ask | SendOwn | Measured | Leave
#: All that a room can be told.
AnyCommand = HostCommand | ParticipantCommand | Notice

_DECODER = msgspec.json.Decoder(HostCommand | ParticipantCommand)


def read_command(data: bytes | str) -> HostCommand | ParticipantCommand:
    """A command off a wire. Raises BadRequest naming the place and the limits."""
    if len(data) > MAX_COMMAND_BYTES:
        raise BadRequest(f"a command has at most {MAX_COMMAND_BYTES} bytes, not {len(data)}")
    try:
        command: HostCommand | ParticipantCommand = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise unreadable("the command cannot be read", error) from None
    return command
