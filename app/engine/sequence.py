"""One generation on its way through the engine: its tokens, its place, its stamps.

    WAITING ──▶ PREFILLING ──▶ RUNNING ──▶ (AHEAD) ──▶ ENDED
       ▲             │          │  ▲
       └──preempted──┴──────────┤  │ granted more
       ▲                        ▼  │
       └─granted, no KV left── PAUSED

A caret under "The cat sat on": ``computed`` tokens have their keys and values in ``slot``; the
rest must be computed. A running sequence has exactly one such token, the newest. The scheduler
makes all the transitions; this module only keeps the facts and refuses to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from app.engine.transcript import Transcript
from app.prompt import Prompt


class State(Enum):
    WAITING = "waiting"
    PREFILLING = "prefilling"
    RUNNING = "running"
    PAUSED = "paused"
    #: Its text is told; what the next turn of its conversation begins with is still to be read.
    AHEAD = "ahead"
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class Sequence:
    """``token_ids`` holds the prompt's ``num_prompt`` tokens and then those made so far."""

    prompt: Prompt
    token_ids: list[int]
    transcript: Transcript
    seed: int
    #: Tokens it may make before it pauses; None: no limit.
    granted: int | None = None
    next_turn: tuple[int, ...] = ()

    num_prompt: int = 0
    #: Order at the door; also the order of being served and, reversed, of losing memory.
    arrival: int = 0
    state: State = State.WAITING
    slot: int | None = None
    computed: int = 0
    #: Prompt tokens that another sequence had computed before, as found at the first try.
    cached_tokens: int = 0

    told_position: int | None = None
    begun_ns: int | None = None
    first_token_ns: int | None = None
    last_token_ns: int | None = None
    paused_since_ns: int | None = None
    paused_ns: int = 0
    #: Slow motion: not decoded before this time.
    due_ns: int = 0

    def __post_init__(self) -> None:
        self.num_prompt = len(self.token_ids)

    @property
    def id(self) -> str:
        return self.prompt.id

    @property
    def num_made(self) -> int:
        return len(self.token_ids) - self.num_prompt

    def made(self, token_id: int, now_ns: int) -> None:
        """One more token was drawn at ``now_ns``."""
        self.token_ids.append(token_id)
        self.last_token_ns = now_ns
        if self.first_token_ns is None:
            self.first_token_ns = now_ns
        pace = self.prompt.tokens_per_second
        if pace is not None:
            # Counted from when it was due, not from when it came, so that the mean pace is kept;
            # but a late one is not made up for by a burst.
            self.due_ns = max(now_ns, (self.due_ns or now_ns) + int(1e9 / pace))

    @property
    def may_go_on(self) -> bool:
        """Whether its grant lets it make another token.

        Text held back does not count as made: its reader cannot ask for more before seeing it.
        The first token is always made, at the end of the prefill.
        """
        return self.granted is None or self.num_made < self.granted or self.transcript.holds_text
