"""Plan: what the teacher asks for before a round or a sending begins: values with their limits.

These structs are the wire's own (msgspec checks types, ranges and unknown fields when it reads
them). It refuses to know phases and people.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.errors import BadRequest
from app.reply.link import Link
from app.reply.pace import Pace

Text = Annotated[str, Meta(max_length=2000)]
Label = Annotated[str, Meta(max_length=60)]
Name = Annotated[str, Meta(min_length=1, max_length=128)]
#: Milliseconds of a stop-watch; an hour is no first word any more.
Millis = Annotated[float, Meta(ge=0, le=3_600_000)]
#: B3 of the threats list: a room asks for short answers.
MAX_TOKENS = 512


class LanePlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How one of the two lanes comes: its pace, a delay that every piece gets, and its network.

    ``every_ms``: it goes out at these ticks only, as a poller would fetch it; 0: at once. All of it is
    simulated once, on the server, so that everybody sees the same stimulus.
    """

    pace: Pace = "token"
    label: Label = ""
    delay_ms: Annotated[float, Meta(ge=0, le=20_000)] = 0.0
    every_ms: Annotated[float, Meta(ge=0, le=10_000)] = 0.0
    link: Link | None = None


def _lanes() -> tuple[LanePlan, LanePlan]:
    return LanePlan("token", "Streamed"), LanePlan("whole", "All at once")


class RoundPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One stimulus for all, and what is asked about it. Exactly one of prompt and recording."""

    prompt: Text | None = None
    recording: Name | None = None
    lanes: tuple[LanePlan, LanePlan] = msgspec.field(default_factory=_lanes)
    #: Felt faster, or would rather use: one attribute a question.
    question: Literal["faster", "rather"] = "faster"
    ask_prediction: bool = True
    ask_felt: bool = True
    #: Both lanes alike (lane a's settings): measures how much the position alone does.
    catch: bool = False
    #: Phones show the stimulus too, each in its own order; else the wall only, in one order.
    mirror: bool = True
    #: The wall shows lane b first.
    flip: bool = False
    max_tokens: Annotated[int, Meta(ge=1, le=MAX_TOKENS)] = 160
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.0
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    tokens_per_second: Annotated[float, Meta(ge=0.1, le=1000)] | None = None
    ignore_eos: bool = False
    #: The stopping rule, set before anybody votes: the teacher's hand, nine of ten connected phones,
    #: or ``close_s`` after the vote was opened.
    closes: Literal["hand", "nine_of_ten", "clock"] = "hand"
    close_s: Annotated[float, Meta(ge=5, le=600)] = 60.0

    def checked(self) -> RoundPlan:
        """The plan with a catch round's lanes made alike. Raises BadRequest naming the field."""
        if self.recording is None and not (self.prompt or "").strip():
            raise BadRequest("plan.prompt is empty: there is nothing to answer", param="plan.prompt")
        if self.recording is not None and self.prompt is not None:
            raise BadRequest("plan has a prompt and a recording; give one of them", param="plan.recording")
        if not self.catch:
            return self
        same = self.lanes[0]
        return msgspec.structs.replace(self, lanes=(same, same))


class SendingPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everybody sends.

    ``batched``: all at one instant, as many at once as the engine's batch holds. ``one_at_a_time``:
    the same instant, but each answer begins when the last has ended. ``own_time``: each phone
    sends by itself when its owner presses the button. ``prompt`` None: everybody's own.
    """

    mode: Literal["batched", "one_at_a_time", "own_time"] = "batched"
    prompt: Text | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=MAX_TOKENS)] = 64
    ignore_eos: bool = False
