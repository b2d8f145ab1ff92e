"""Stage: one live room: its state, its audience, and what plays in it.

Every command goes through ``apply``: the rules decide, the new state is kept, its effects are done,
and whoever sees something new is told. It refuses to know the wires, and how a code is found.

Longer than most files here: all that a command can set in motion stands on one page.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from app.errors import FirstwordError, NotFound, Overloaded
from app.generation import Engine
from app.reply.log import Reply
from app.reply.registry import Replies
from app.rooms.audience import Audience
from app.rooms.commands import (
    Answered,
    AnyCommand,
    FirstToken,
    Joined,
    Notice,
    Presence,
    SendingBegan,
    Sent,
    StimulusBegan,
    StimulusOver,
    VoteDue,
)
from app.rooms.keys import digest, new_key
from app.rooms.member import Member
from app.rooms.permission import SYSTEM, Actor, Role
from app.rooms.plan import RoundPlan
from app.rooms.room import decide
from app.rooms.rush import Rush, RushLimits
from app.rooms.sending import Sending
from app.rooms.state import (
    CloseIn,
    Effect,
    Erase,
    Expel,
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

_EXPELLED = {"kicked": 4403, "left": 1000}
_REPLACED = (4409, "replaced")
_ENDED = (4404, "ended")


@dataclass(frozen=True, slots=True)
class Parts:
    """What all rooms of a server share. ``begin`` starts the reply of a round's stimulus."""

    replies: Replies
    engine: Engine
    begin: Callable[[RoundPlan], Reply]
    rush: RushLimits
    now_ns: Callable[[], int]
    origin_ns: int
    epoch: str
    max_participants: int
    keep: Callable[[Room, bool], None]
    erase: Callable[[str], None]

    def clock_ms(self, at_ns: int | None = None) -> float:
        """The server's clock, as every frame tells it."""
        return round(((self.now_ns() if at_ns is None else at_ns) - self.origin_ns) / 1e6, 3)


class Stage:
    """One room while the server runs."""

    def __init__(self, room: Room, parts: Parts) -> None:
        self.room = room
        self._parts = parts
        self._audience = Audience(lambda: self.room, parts.epoch)
        self._playing: Playing | None = None
        self._rush: Rush | None = None
        self._steps = Steps(parts.engine, self._tell_engine, parts.now_ns)
        self._vote_clock = VoteClock(self.clock_ms, self._notice)
        self._over = False

    # What transports use

    def apply(self, command: AnyCommand, actor: Actor) -> None:
        """Say a command. Raises what the rules raise; then nothing has changed."""
        if self._over and actor.role == "system":
            # Sockets and tasks say their last words after a room is gone: it must not come back by them.
            return
        self._check()
        before = self.room
        self.room, effects = decide(before, command, actor)
        # A teacher's click, and what comes to an end: it may be the last thing that this server says.
        now = actor.role == "host" or isinstance(command, StimulusOver | VoteDue)
        if self.room is not before:
            self._parts.keep(self.room, now)
        if actor.role == "host":
            self._audience.touch(None)
        elif actor.number is not None:
            self._audience.touch(actor.number)
        elif isinstance(command, Sent | FirstToken | Answered):
            self._audience.touch(command.number)
        for effect in effects:
            self._do(effect)
        if self._over:
            return
        self._steps.watch(self.room.busy)
        if now:
            self._audience.publish()
        else:
            self._audience.publish_soon()
        if isinstance(command, Sent):
            # This phone's clock runs until it has read its own first word.
            self._audience.publish_to(command.number)

    def admit(self, key: str | None) -> tuple[int, str]:
        """(number, secret) of the participant who has this secret; a new one for nobody's.

        Raises NotFound when the room is closed or gone, Overloaded when it is full.
        """
        self._check()
        known = self.number_of(key)
        if known is not None and key is not None:
            return known, key
        if self.room.closed:
            raise NotFound(f"room {self.room.code} is closed", param="code")
        if len(self.room.participants) >= self._parts.max_participants:
            raise Overloaded(f"{len(self.room.participants)} take part already, which is the limit")
        secret = new_key()
        number = self.room.next_number
        self.apply(Joined(digest(secret)), SYSTEM)
        return number, secret

    def number_of(self, key: str | None) -> int | None:
        """Whose secret this is; None: nobody's."""
        if not key:
            return None
        wanted = digest(key)
        return next((n for n, p in self.room.participants.items() if p.key == wanted), None)

    def is_host(self, key: str | None) -> bool:
        """Whether this is the teacher's key."""
        return hmac.compare_digest(digest(key or ""), self.room.host_key)

    def is_wall(self, token: str | None) -> bool:
        """Whether this is the wall's token."""
        return hmac.compare_digest(digest(token or ""), digest(self.room.wall_token))

    def enter(self, actor: Actor) -> Member:
        """A socket more. It is told the whole state; an older socket of the same phone is shown out.

        Raises NotFound when the room is gone: nobody would show this one out any more.
        """
        self._check()
        member = Member(actor)
        if actor.role == "participant":
            for other in self._audience.of(actor):
                other.dismiss(*_REPLACED)
        self._audience.add(member)
        self._tell_presence(actor)
        return member

    def exit(self, member: Member) -> None:
        """A socket less; idempotent."""
        if member in self._audience:
            self._audience.remove(member)
            self._tell_presence(member.actor)

    def view(self, role: Role) -> str:
        """The ``room`` frame of a role, as it is now."""
        return self._audience.view(role)

    @property
    def epoch(self) -> str:
        """This run of the server."""
        return self._parts.epoch

    def clock_ms(self) -> float:
        """The server's clock, as every frame tells it."""
        return self._parts.clock_ms()

    def end(self) -> None:
        """Stop everything and show everybody out: the room is deleted, or the server goes."""
        if self._playing is not None:
            self._playing.stop()
        self._stop_rush()
        self._vote_clock.cancel()
        self._steps.watch(False)
        self._over = True
        self._audience.dismiss_all(*_ENDED)

    # Private

    def _check(self) -> None:
        """Between finding a room and what is done with it something may have been awaited."""
        if self._over:
            raise NotFound(f"room {self.room.code} is gone", param="code")

    # Private: effects

    def _do(self, effect: Effect) -> None:
        match effect:
            case Play():
                self._play()
            case StopPlaying():
                self._stop_playing()
            case Steer() if self._playing is not None:
                self._playing.steer(self.room.speed)
            case StepOn() if self._playing is not None:
                self._playing.step()
            case CloseIn() if self.room.round is not None:
                self._vote_clock.set(self.room.round, effect)
            case Send():
                self._send()
            case SendOne():
                self._send_one(effect.number)
            case StopSending():
                self._stop_rush()
            case Expel():
                for member in self._audience.of(Actor("participant", effect.number)):
                    member.dismiss(_EXPELLED[effect.why], effect.why)
            case Erase():
                self._parts.erase(self.room.code)

    def _play(self) -> None:
        """Start the stimulus; one that cannot start is over at once, with the reason."""
        self._forget_playing()
        assert self.room.round is not None
        plan = self.room.round.plan
        try:
            reply = self._parts.begin(plan)
        except FirstwordError as error:
            id = f"none-{secrets.token_hex(4)}"
            self._notice(StimulusBegan(id, self.clock_ms(), self.room.speed))
            self._notice(StimulusOver(id, error.message))
            return
        speed = self.room.speed
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
        if self.room.round is None:
            self._forget_playing()

    def _forget_playing(self) -> None:
        if self._playing is not None:
            self._playing.stop()
            self._playing = None
            self._audience.show_lanes(())

    def _send(self) -> None:
        self._stop_rush()
        self._notice(SendingBegan(self.clock_ms()))
        if self.room.sending is not None:
            if self.room.sending.line:
                self._moved(0, 0)
            self._rush = self._rush_for(self.room.sending)

    def _send_one(self, number: int) -> None:
        """One answer more; after a restart the sending goes on with a rush of its own."""
        if self.room.sending is not None:
            self._rush = self._rush or self._rush_for(self.room.sending)
            self._rush.send(number)

    def _rush_for(self, sending: Sending) -> Rush:
        parts = self._parts
        return Rush(sending, parts.replies, parts.rush, new_key, self._notice, self._moved, parts.now_ns)

    def _stop_rush(self) -> None:
        if self._rush is not None:
            self._rush.stop()
            self._rush = None
        self._audience.show_line("")

    # Private: notices

    def _notice(self, notice: Notice) -> None:
        self.apply(notice, SYSTEM)

    def _tell_presence(self, actor: Actor) -> None:
        if actor.role != "wall":
            online = bool(self._audience.of(actor))
            self._notice(Presence(actor.number, online))

    def _moved(self, num_begun: int, num_ended: int) -> None:
        sending = self.room.sending
        if sending is not None:
            line = {"type": "line", "sending": sending.id, "begun": num_begun, "ended": num_ended}
            self._audience.show_line(msgspec.json.encode(line).decode())

    def _tell_engine(self, frame: str) -> None:
        self._audience.tell("engine", frame, ("host", "wall"))
