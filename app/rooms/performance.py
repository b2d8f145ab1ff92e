"""Performance: what is in motion in one room: a stimulus that plays, answers on their way, a vote's clock.

Effects come in, and what becomes of them goes out as notices; how far it is, the audience is shown.
It refuses to decide anything (room does), and to know keys and who comes and goes (stage does).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import msgspec

from app.errors import FirstwordError
from app.rooms.audience import Audience
from app.rooms.keys import new_key
from app.rooms.notices import Notice, SendingBegan, StimulusBegan, StimulusOver
from app.rooms.parts import Parts
from app.rooms.rush import Rush
from app.rooms.sending import Sending
from app.rooms.state import (
    CloseIn,
    Effect,
    Play,
    Room,
    Send,
    SendOne,
    Steer,
    StepOn,
    StopPlaying,
    StopSending,
)
from app.rooms.steps import Steps
from app.rooms.stimulus import Playing
from app.rooms.vote_clock import VoteClock


class Performance:
    """One room's. ``room`` gives its present state; ``notice`` may change it before it returns."""

    def __init__(
        self, parts: Parts, audience: Audience, room: Callable[[], Room], notice: Callable[[Notice], None]
    ) -> None:
        self._parts = parts
        self._audience = audience
        self._room = room
        self._notice = notice
        self._playing: Playing | None = None
        self._rush: Rush | None = None
        self._steps = Steps(parts.engine, self._tell_engine, parts.now_ns)
        self._vote_clock = VoteClock(parts.clock_ms, notice)

    def do(self, effect: Effect) -> None:
        """Set in motion, turn or end; what does not concern what moves is let be."""
        match effect:
            case Play():
                self._play()
            case StopPlaying():
                self._stop_playing()
            case Steer() if self._playing is not None:
                self._playing.steer(self._room().speed)
            case StepOn() if self._playing is not None:
                self._playing.step()
            case CloseIn():
                if (round := self._room().round) is not None:
                    self._vote_clock.set(round, effect)
            case Send():
                self._send()
            case SendOne():
                self._send_one(effect.number)
            case StopSending():
                self._stop_rush()

    def watch_engine(self) -> None:
        """Show the engine's steps for as long as it works for this room."""
        self._steps.watch(self._room().busy)

    def end(self) -> None:
        """Stop everything: the room is over."""
        if self._playing is not None:
            self._playing.stop()
        self._stop_rush()
        self._vote_clock.cancel()
        self._steps.watch(False)

    # Private: the stimulus

    def _play(self) -> None:
        """Start the stimulus; one that cannot start is over at once, with the reason."""
        self._forget_playing()
        room = self._room()
        assert room.round is not None
        plan, speed = room.round.plan, room.speed
        try:
            reply = self._parts.begin(plan)
        except FirstwordError as error:
            id = f"none-{secrets.token_hex(4)}"
            self._notice(StimulusBegan(id, self._parts.clock_ms(), speed))
            self._notice(StimulusOver(id, error.message, error.code))
            return
        self._playing = Playing(plan, reply, speed, self._notice, self._audience.poke, self._parts.now_ns)
        self._notice(StimulusBegan(reply.id, self._parts.clock_ms(reply.received_ns), speed))
        # First the state that names the stimulus, then its text.
        self._audience.publish()
        self._audience.show_lanes(self._playing.lanes)

    def _stop_playing(self) -> None:
        """End it. Its text stays to be read for as long as its round is open."""
        if self._playing is not None and not self._playing.over:
            self._playing.stop()
            self._notice(StimulusOver(self._playing.id))
        if self._room().round is None:
            self._forget_playing()

    def _forget_playing(self) -> None:
        if self._playing is not None:
            self._playing.stop()
            self._playing = None
            self._audience.show_lanes(())

    # Private: the sending

    def _send(self) -> None:
        self._stop_rush()
        self._notice(SendingBegan(self._parts.clock_ms()))
        if (sending := self._room().sending) is not None:
            if sending.line:
                self._show_line(0, 0)
            self._rush = self._rush_for(sending)

    def _send_one(self, number: int) -> None:
        """One answer more; after a restart the sending goes on with a rush of its own."""
        if (sending := self._room().sending) is not None:
            self._rush = self._rush or self._rush_for(sending)
            self._rush.send(number)

    def _rush_for(self, sending: Sending) -> Rush:
        parts = self._parts
        return Rush(sending, parts.replies, parts.rush, new_key, self._notice, self._show_line, parts.now_ns)

    def _stop_rush(self) -> None:
        if self._rush is not None:
            self._rush.stop()
            self._rush = None
        self._audience.show_line("")

    # Private: what is shown

    def _show_line(self, num_begun: int, num_ended: int) -> None:
        if (sending := self._room().sending) is not None:
            line = {"type": "line", "sending": sending.id, "begun": num_begun, "ended": num_ended}
            self._audience.show_line(msgspec.json.encode(line).decode())

    def _tell_engine(self, frame: str) -> None:
        self._audience.tell("engine", frame, ("host", "wall"))
