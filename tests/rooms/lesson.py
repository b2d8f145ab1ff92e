"""A room for tests of the rules, and short words for what is said in it."""

from __future__ import annotations

from typing import Any

from app.rooms.commands import Advance, AnyCommand, OpenRound, Phase, Seen, Vote
from app.rooms.notices import FirstText, Joined, Presence, StimulusBegan, StimulusOver
from app.rooms.permission import HOST, SYSTEM, Actor
from app.rooms.plan import RoundPlan
from app.rooms.room import decide
from app.rooms.state import Effect, Room

PLAN = RoundPlan(prompt="Count.")


class Lesson:
    """A room and the effects of what was said last."""

    def __init__(self, num_phones: int = 0) -> None:
        self.room = Room("K7QX2M", "seed", "host", "wall", 0.0)
        self.effects: tuple[Effect, ...] = ()
        for number in range(1, num_phones + 1):
            self.join(number)

    @property
    def did(self) -> list[Effect]:
        """What the last command asked to be done."""
        return list(self.effects)

    def say(self, command: AnyCommand, actor: Actor = HOST) -> None:
        self.room, self.effects = decide(self.room, command, actor)

    def notice(self, command: AnyCommand) -> None:
        self.say(command, SYSTEM)

    def phone(self, number: int, command: AnyCommand) -> None:
        self.say(command, Actor("participant", number))

    def join(self, number: int) -> None:
        self.notice(Joined(f"key {number}"))
        self.notice(Presence(number, True))

    def go(self, *phases: Phase) -> None:
        for phase in phases:
            self.say(Advance(phase, self.room.phase))

    def open(self, **plan: Any) -> int:
        """A round; its id."""
        self.say(OpenRound(RoundPlan(**{"prompt": "Count.", **plan})))
        assert self.room.round is not None
        return self.room.round.id

    def play(self, id: str = "s", a_ms: float = 100.0, b_ms: float = 900.0) -> None:
        """The whole stimulus, as the stage tells it."""
        self.go("watch")
        self.notice(StimulusBegan(id, 0.0))
        self.notice(FirstText(id, "a", a_ms))
        self.notice(FirstText(id, "b", b_ms))
        self.notice(StimulusOver(id))

    def see(self, number: int, a_ms: float = 110.0, b_ms: float = 910.0, hidden: bool = False) -> None:
        assert self.room.round is not None and self.room.round.stimulus is not None
        sight = {"a": a_ms, "b": b_ms}
        self.phone(number, Seen(self.room.round.id, self.room.round.stimulus.id, sight, hidden))  # type: ignore[arg-type]

    def vote(self, number: int, choice: str, ballot: str = "vote") -> None:
        assert self.room.round is not None
        self.phone(number, Vote(self.room.round.id, ballot, choice))  # type: ignore[arg-type]
