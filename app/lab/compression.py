"""Compression on the way of a stream, well done and badly: a reply's lines through a real gzip.

A compressor wants much text at once; told nothing, it keeps what it is given until it has enough. A
flush after each event gives the event out, at the price of a few bytes. It refuses to know HTTP.
"""

from __future__ import annotations

import zlib
from typing import Literal

from app.events import AnyEvent, Done, Error

Flush = Literal["each", "end"]
FLUSHES: tuple[Flush, ...] = ("each", "end")

_GZIP_WINDOW_BITS = 31


class Squeeze:
    """One stream's compressor; ``flush`` says when it lets go of what it has."""

    def __init__(self, flush: Flush) -> None:
        self._flush = flush
        self._gzip = zlib.compressobj(wbits=_GZIP_WINDOW_BITS)

    def on(self, event: AnyEvent, line: bytes) -> bytes:
        """The bytes that leave when ``line``, which says ``event``, goes in; all of them at the end."""
        out = self._gzip.compress(line)
        if isinstance(event, Done | Error):
            return out + self._gzip.flush()
        return out + self._gzip.flush(zlib.Z_SYNC_FLUSH) if self._flush == "each" else out
