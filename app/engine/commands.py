"""What may be asked of the engine loop while it runs.

Other threads put these into its queue; the loop applies them between two steps. This module
refuses to know how they got here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Add:
    """Generate for ``prompt``, whose template and text are ``token_ids``.

    ``next_turn`` is what a next turn begins with, whatever will be said in it.
    """

    prompt: Prompt
    token_ids: Sequence[int]
    next_turn: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Cancel:
    """End a sequence before the next step."""

    id: str


@dataclass(frozen=True, slots=True)
class Grant:
    """Let a sequence make ``tokens`` tokens in all; if it has made more already, it pauses now."""

    id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Watch:
    """Tell every step from now on, or no longer."""

    on: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """End everything with ``server_shutdown`` and return."""


Command = Add | Cancel | Grant | Watch | Stop
