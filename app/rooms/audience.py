"""Audience: the members of one room, and how they are kept up to date.

What a role sees is encoded once for all who have it, and only when it has changed: a revision counts
those changes, anew in each epoch, which is one run of the server. Which of them a member has been told
stands with the member: who looks meanwhile takes no news from the others. After a teacher's command
everybody is told at once; what many phones cause is gathered for a moment. It refuses to know the rules,
and what plays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from app.rooms import views
from app.rooms.lane import Lane
from app.rooms.member import Kind, Member
from app.rooms.permission import Actor, Role
from app.rooms.state import Room

#: How long changes that phones cause are gathered before everybody is told.
_GATHER_S = 0.1
_EVERYBODY: tuple[Role, ...] = ("host", "wall", "participant")
_VIEWS = {"host": views.host_view, "wall": views.wall_view, "participant": views.phone_view}


class Audience:
    """Everybody who is connected to a room; ``room`` gives its present state."""

    def __init__(self, room: Callable[[], Room], epoch: str) -> None:
        self._room = room
        self._epoch = epoch
        self._members: set[Member] = set()
        #: The same, by who they are: at every step of somebody's, a search through all would be felt.
        self._of: dict[Actor, set[Member]] = {}
        self._lanes: Sequence[Lane] = ()
        #: role -> (what it sees, as it was encoded last, its revision, the frame)
        self._encoded: dict[Role, tuple[bytes, int, str]] = {}
        self._line = ""
        #: Whose private view may have changed; None: everybody's.
        self._touched: set[int] | None = set()
        self._timer: asyncio.TimerHandle | None = None
        self._poking = False

    def __contains__(self, member: Member) -> bool:
        return member in self._members

    def add(self, member: Member) -> None:
        """Somebody more: told the whole state of now, and all text so far."""
        self._members.add(member)
        self._of.setdefault(member.actor, set()).add(member)
        self._tell_state(member, *self._view(member.actor.role))
        self._tell_privately(member)
        if self._line:
            member.tell("line", self._line)
        self._show_lanes(member)

    def remove(self, member: Member) -> None:
        """Somebody less."""
        self._members.discard(member)
        same = self._of.get(member.actor, set())
        same.discard(member)
        if not same:
            self._of.pop(member.actor, None)

    def view(self, role: Role) -> str:
        """The ``room`` frame of a role, as it is now."""
        return self._view(role)[0]

    def of(self, actor: Actor) -> list[Member]:
        """All sockets of an actor."""
        return list(self._of.get(actor, ()))

    def dismiss_all(self, code: int, reason: str) -> None:
        """Show everybody out."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for member in self._members:
            member.dismiss(code, reason)

    def touch(self, number: int | None) -> None:
        """A participant's private view may have changed; None: everybody's."""
        if number is None:
            self._touched = None
        elif self._touched is not None:
            self._touched.add(number)

    def publish_soon(self) -> None:
        """Tell what has changed, with what else changes in the next moment."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHER_S, self.publish)

    def publish(self) -> None:
        """Tell what has changed, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        touched, self._touched = self._touched, set()
        seen = {role: self._view(role) for role in {member.actor.role for member in self._members}}
        for member in self._members:
            self._tell_state(member, *seen[member.actor.role])
            if touched is None or member.actor.number in touched:
                self._tell_privately(member)

    def publish_to(self, number: int) -> None:
        """Tell one participant what concerns only them, now."""
        for member in self.of(Actor("participant", number)):
            self._tell_privately(member)

    def tell(self, kind: Kind, frame: str, roles: tuple[Role, ...] = _EVERYBODY) -> None:
        """One frame for all of these roles."""
        for member in self._members:
            if member.actor.role in roles:
                member.tell(kind, frame)

    def show_line(self, frame: str) -> None:
        """How far a sending is; empty: there is none."""
        self._line = frame
        if frame:
            self.tell("line", frame)

    def show_lanes(self, lanes: Sequence[Lane]) -> None:
        """What plays from now on, from its beginning; none: nothing does."""
        self._lanes = lanes
        for member in self._members:
            self._show_lanes(member)

    def poke(self) -> None:
        """The lanes have more. Told once for all that has come by then: who is late sends less often."""
        if not self._poking:
            self._poking = True
            asyncio.get_running_loop().call_soon(self._poke)

    # Private

    def _poke(self) -> None:
        self._poking = False
        for member in self._members:
            member.poke()

    def _show_lanes(self, member: Member) -> None:
        round = self._room().round
        mirrored = round is not None and round.plan.mirror
        member.follow(self._lanes if mirrored or member.actor.role != "participant" else ())

    def _view(self, role: Role) -> tuple[str, int]:
        """(frame, revision) of what a role sees now."""
        content = msgspec.json.encode(_VIEWS[role](self._room()))
        encoded, revision, frame = self._encoded.get(role, (b"", 0, ""))
        if content != encoded:
            revision += 1
            head = f'{{"type":"room","epoch":"{self._epoch}","revision":{revision},'
            frame = head + content[1:].decode()
            self._encoded[role] = (content, revision, frame)
        return frame, revision

    def _tell_state(self, member: Member, frame: str, revision: int) -> None:
        if revision != member.revision:
            member.revision = revision
            member.tell("room", frame)

    def _tell_privately(self, member: Member) -> None:
        room, number = self._room(), member.actor.number
        if number is not None and number in room.participants:
            content = msgspec.json.encode(views.private_view(room, number))
            # A teacher's click touches everybody's view and changes few of them.
            if content != member.shown:
                member.shown = content
                member.tell("me", '{"type":"me",' + content[1:].decode())
