"""HTTP/2's frames, cut out of what a server sent: what gRPC looks like on the wire. Pure.

A frame is nine bytes of head (length, type, flags, stream) and so much payload (RFC 9113, section 4.1).
It refuses to know what is in a payload.
"""

from __future__ import annotations

from dataclasses import dataclass

_HEAD_BYTES = 9
_NAMES = (
    "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY",
    "WINDOW_UPDATE", "CONTINUATION",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frame:
    """``data``: all of its bytes, the head included."""

    name: str
    data: bytes


class FrameSplitter:
    """Bytes as they come, cut anywhere; keeps at most one unfinished frame."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that ``data`` completes."""
        self._rest += data
        frames = []
        while len(self._rest) >= _HEAD_BYTES:
            size = _HEAD_BYTES + int.from_bytes(self._rest[:3])
            if len(self._rest) < size:
                break
            kind = self._rest[3]
            name = _NAMES[kind] if kind < len(_NAMES) else f"type {kind}"
            frames.append(Frame(name, self._rest[:size]))
            self._rest = self._rest[size:]
        return frames
