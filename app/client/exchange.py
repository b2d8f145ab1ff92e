"""Exchange: one question asked of a server and everything that came back, with its stamps.

All times are nanoseconds of time.monotonic_ns. When it was due, when we began and when it was sent
are kept apart: whoever starts counting only when a busy client gets round to sending hides the wait
(coordinated omission). It refuses to compute anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

#: How an exchange ended.
#:
#:     complete   the answer's own end: last chunk, announced length, or the dialect's last frame
#:     closed     the connection closed, which for this answer is the only possible end
#:     cut        the connection closed in the middle
#:     lingering  the dialect's last frame came, the answer's end did not within the tail
#:     silent     nothing at all for the time that we wait
#:     overlong   more time or bytes than we spend
#:     stopped    by us, on purpose
#:     failed     the connection could not be made or broke down
End = Literal["complete", "closed", "cut", "lingering", "silent", "overlong", "stopped", "failed"]


class CannotConnect(Exception):
    """Nobody answers there; the message is one line for a person."""


@dataclass(frozen=True, slots=True)
class Head:
    """Status line and headers (names in lower case); ``at_ns``: when the last of it was read."""

    status: int
    version: str
    headers: tuple[tuple[str, str], ...]
    at_ns: int

    def get(self, name: str) -> str | None:
        """The values of a header, joined by commas; None: it is not there."""
        values = [value for key, value in self.headers if key == name]
        return ", ".join(values) if values else None


@dataclass(frozen=True, slots=True)
class Read:
    """What one read of the socket brought of the body, content-decoded.

    ``wire_bytes`` counts the body as it was transferred, ``chunks`` the HTTP chunks that ended.
    """

    at_ns: int
    data: bytes
    wire_bytes: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the dialect: its event name (empty where there is none) and its data."""

    at_ns: int
    name: str
    data: str


@dataclass(frozen=True, slots=True)
class Delta:
    """New text, never empty; ``tokens`` None: the server does not say. ``t_ms``: the server's own stamp."""

    at_ns: int
    text: str
    tokens: int | None = None
    t_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; None: it does not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """See the module. ``error`` is one line; with an error the text may still be there in part."""

    scheduled_ns: int
    began_ns: int
    sent_ns: int
    ended_ns: int
    streamed: bool
    end: End
    head: Head | None = None
    reads: tuple[Read, ...] = ()
    frames: tuple[Frame, ...] = ()
    deltas: tuple[Delta, ...] = ()
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: str | None = None

    @property
    def text(self) -> str:
        """All the text that came."""
        return "".join(delta.text for delta in self.deltas)

    @property
    def body(self) -> bytes:
        """The whole body, content-decoded."""
        return b"".join(read.data for read in self.reads)
