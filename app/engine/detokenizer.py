"""Token bytes to text that may be shown: never cut inside a character.

A token may end in the middle of a character. Its bytes wait here until the character is whole;
bytes that cannot become one turn into U+FFFD as soon as that is certain. All texts joined equal
``all_bytes.decode("utf-8", errors="replace")``, whatever the cuts. This module refuses to know
tokens, stop strings and limits.
"""

from __future__ import annotations

import codecs

_Utf8 = codecs.getincrementaldecoder("utf-8")


class Detokenizer:
    """Incremental bytes to text; holds back at most three bytes."""

    def __init__(self) -> None:
        self._decoder = _Utf8(errors="replace")

    @property
    def holds_bytes(self) -> bool:
        """Whether the beginning of a character is waiting for its rest."""
        return bool(self._decoder.getstate()[0])

    def push(self, data: bytes) -> str:
        """Take the next token's bytes; return the text that is certain now, possibly empty."""
        return self._decoder.decode(data)

    def flush(self) -> str:
        """Nothing more will come: an incomplete character becomes U+FFFD."""
        return self._decoder.decode(b"", final=True)
