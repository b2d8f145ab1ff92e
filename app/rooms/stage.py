"""Stage: one live room: its state, who is there, and what follows from a command.

Every command goes through ``apply``: the rules decide, the new state is kept, its effects are done,
and whoever sees something new is told. Who has which key is known here. It refuses to know the wires,
how a code is found, and what is in motion (performance).
"""

from __future__ import annotations

import hmac

from app.errors import NotFound, Overloaded
from app.rooms.audience import Audience
from app.rooms.commands import AnyCommand
from app.rooms.keys import digest, new_key
from app.rooms.member import Member
from app.rooms.notices import Answered, FirstToken, Joined, Notice, Presence, Sent, StimulusOver, VoteDue
from app.rooms.parts import Parts
from app.rooms.performance import Performance
from app.rooms.permission import SYSTEM, Actor, Role
from app.rooms.room import decide
from app.rooms.state import Effect, Erase, Expel, Room

_EXPELLED = {"kicked": 4403, "left": 1000}
_REPLACED = (4409, "replaced")
_ENDED = (4404, "ended")


class Stage:
    """One room while the server runs."""

    def __init__(self, room: Room, parts: Parts) -> None:
        self.room = room
        self._parts = parts
        self._audience = Audience(lambda: self.room, parts.epoch)
        self._performance = Performance(parts, self._audience, lambda: self.room, self._notice)
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
        self._performance.watch_engine()
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
        self._performance.end()
        self._over = True
        self._audience.dismiss_all(*_ENDED)

    # Private

    def _check(self) -> None:
        """Between finding a room and what is done with it something may have been awaited."""
        if self._over:
            raise NotFound(f"room {self.room.code} is gone", param="code")

    def _do(self, effect: Effect) -> None:
        match effect:
            case Expel():
                for member in self._audience.of(Actor("participant", effect.number)):
                    member.dismiss(_EXPELLED[effect.why], effect.why)
            case Erase():
                self._parts.erase(self.room.code)
            case _:
                self._performance.do(effect)

    def _notice(self, notice: Notice) -> None:
        self.apply(notice, SYSTEM)

    def _tell_presence(self, actor: Actor) -> None:
        if actor.role != "wall":
            online = bool(self._audience.of(actor))
            self._notice(Presence(actor.number, online))
