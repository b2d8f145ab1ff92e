"""Sending: everybody sends, and each phone measures its own first word.

Who asked what, which answer is whose, and how long each waited: for its phone in all, and for the
server alone. The rest is network and paint. Frozen values; pure. It refuses to know engines, lines
and sockets.
"""

from __future__ import annotations

import msgspec

from app.rooms.plan import SendingPlan


class Measure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One phone's first word, in ms. ``server_ms`` None: the server does not know of it."""

    first_word_ms: float
    server_ms: float | None = None
    hidden: bool = False
    clock_error_ms: float = 0.0


class Sending(msgspec.Struct, frozen=True, omit_defaults=True):
    """One sending. ``line`` is fixed when it begins: participants in the order in which they wait."""

    id: int
    plan: SendingPlan
    prompts: dict[int, str] = {}
    line: tuple[int, ...] = ()
    started_ms: float | None = None
    replies: dict[int, str] = {}
    #: Whose answer is not over yet, in everybody's own time: one at a time each.
    running: frozenset[int] = frozenset()
    failures: dict[int, str] = {}
    #: The same failures' error codes; a failure of a server that was started again has none.
    failure_codes: dict[int, str] = {}
    server_ms: dict[int, float] = {}
    measures: dict[int, Measure] = {}

    def prompt_of(self, number: int) -> str | None:
        """What is sent for a participant; None: nothing."""
        return self.plan.prompt if self.plan.prompt is not None else self.prompts.get(number)

    def distribution(self) -> list[tuple[float, float | None]]:
        """(total, the server's share) in ms of each phone whose page was seen, fastest first."""
        shown = [(m.first_word_ms, m.server_ms) for m in self.measures.values() if not m.hidden]
        return sorted(shown, key=lambda pair: pair[0])
