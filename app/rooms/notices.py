"""Notices: what a room's own server tells it: who is online, how a stimulus and the answers fare.

No wire reads them, so nobody can say them from outside; they are told like commands, because the
room's state changes in one place only. It refuses to know what follows from them (noticing).
"""

from __future__ import annotations

import msgspec

from app.rooms.ballot import LaneId
from app.rooms.playhead import Playhead


class _Notice(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of all."""


class Joined(_Notice, tag="joined", frozen=True):
    """Somebody is let in; ``key`` is a digest of the secret that they will come back with."""

    key: str


class Presence(_Notice, tag="presence", frozen=True):
    """A participant's socket opened or closed; number None: the teacher's."""

    number: int | None
    online: bool


class Restored(_Notice, tag="restored", frozen=True):
    """The server has started again: nobody is online and whatever played is lost."""


class StimulusBegan(_Notice, tag="stimulus_began", frozen=True):
    id: str
    started_ms: float
    speed: float = 1.0


class Steered(_Notice, tag="steered", frozen=True):
    """The stimulus goes on from here at another speed, or stands."""

    id: str
    playhead: Playhead


class FirstText(_Notice, tag="first_text", frozen=True):
    """A lane's first text left the server, ``t_ms`` after the stimulus began."""

    id: str
    lane: LaneId
    t_ms: float


class StimulusOver(_Notice, tag="stimulus_over", frozen=True):
    """``message``: empty when it ended well; ``code`` is its error's, for pages in other languages."""

    id: str
    message: str = ""
    code: str = ""


class VoteCloses(_Notice, tag="vote_closes", frozen=True):
    """The open vote will close by itself at this moment of the server's clock."""

    round: int
    at_ms: float


class VoteDue(_Notice, tag="vote_due", frozen=True):
    """That moment has come."""

    round: int
    at_ms: float


class SendingBegan(_Notice, tag="sending_began", frozen=True):
    started_ms: float


class Sent(_Notice, tag="sent", frozen=True):
    """A participant's answer was started, or could not be (``message``, and its error's ``code``)."""

    number: int
    reply: str = ""
    message: str = ""
    code: str = ""


class Answered(_Notice, tag="answered", frozen=True):
    """A participant's answer is over, well or not."""

    number: int


class FirstToken(_Notice, tag="first_token", frozen=True):
    """The server's share of a participant's first word."""

    number: int
    server_ms: float


Notice = (
    Joined | Presence | Restored | StimulusBegan | Steered | FirstText | StimulusOver | VoteCloses | VoteDue
    | SendingBegan | Sent | FirstToken | Answered
)  # fmt: skip
