"""Journal: one line of JSON for each reply that is over, for those who keep logs.

What it took and how it ended, never what was asked and what was answered. A reply's id lets a
reader in, so a line carries a digest of it: enough to find lines that belong together. It refuses
to know where lines go.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

import msgspec

from app.events import AnyEvent, Done, Error
from app.reply.log import Reply


class Journal:
    """Give ``listen`` to the registry; ``write`` takes whole lines without their end."""

    def __init__(self, write: Callable[[str], None], now_epoch_s: Callable[[], float] = time.time) -> None:
        self._write = write
        self._now_epoch_s = now_epoch_s

    def listen(self, reply: Reply, event: AnyEvent) -> None:
        """Write the line of a reply that ends with this event."""
        match event:
            case Done():
                rest: dict[str, object] = {
                    "finish_reason": event.finish_reason,
                    **msgspec.to_builtins(event.usage),
                    **msgspec.to_builtins(event.timings),
                }
            case Error():
                rest = {"finish_reason": "error", "code": event.code, "total_ms": event.t}
            case _:
                return
        self._write(self._line(reply, rest))

    # Private

    def _line(self, reply: Reply, rest: dict[str, object]) -> str:
        line = {
            "event": "reply_ended",
            "at_epoch_s": round(self._now_epoch_s(), 3),
            "reply": hashlib.sha256(reply.id.encode()).hexdigest()[:12],
            **rest,
        }
        return msgspec.json.encode(line).decode()
