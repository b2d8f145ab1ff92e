"""Pace: how many deltas of the log a reader gets at once. Pure.

A pacer takes the log's deltas one by one and gives them back merged: at every token, at every
word, at every sentence, or all at once. It cuts between deltas only, never inside one, so a merged
delta is always a run of whole ones and its ``seq`` is a position in the log. It refuses to know
time, readers and sockets. What it holds back is bounded for every pace but ``whole``, which is
bounded by the length of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, get_args

from app.events import Delta

Pace = Literal["token", "word", "sentence", "whole"]
PACES: tuple[Pace, ...] = get_args(Pace)

#: A "word" that never ends (an URL, a row of dashes) is let go at this length.
MAX_WORD_CHARS = 64
#: So is a sentence.
MAX_SENTENCE_CHARS = 1000

#: Scripts that write words without spaces: each character may be shown at once.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_SENTENCE_END = re.compile(r"[.!?\u2026\u0964\u061f][\"'\u201d\u2019)\]*_]*\s*\Z")
_FULL_STOP_CJK = re.compile(r"[\u3002\uff01\uff1f]\s*\Z")

#: (text held back, next delta's text) -> whether the held text is complete.
Boundary = Callable[[str, str], bool]


class Pacer:
    """Holds deltas back until a boundary; see ``pacer`` for the four kinds."""

    def __init__(self, boundary: Boundary, max_chars: int | None) -> None:
        self._boundary = boundary
        self._max_chars = max_chars
        self._held: list[Delta] = []
        self._text = ""

    def push(self, delta: Delta) -> list[Delta]:
        """Take the log's next delta; give what is now complete, oldest first (0 to 2 deltas)."""
        released = []
        if self._held and self._boundary(self._text, delta.text):
            released += self.flush()
        self._held.append(delta)
        if self._max_chars is not None:
            # Only these boundaries look at it; joining all of a whole reply each time would cost.
            self._text += delta.text
        too_long = self._max_chars is not None and len(self._text) >= self._max_chars
        if too_long or self._boundary(self._text, ""):
            released += self.flush()
        return released

    def flush(self) -> list[Delta]:
        """Give everything held back, as at most one delta: the reply is over."""
        if not self._held:
            return []
        merged = merge(self._held)
        self._held, self._text = [], ""
        return [merged]


def pacer(pace: Pace) -> Pacer:
    """A fresh pacer. ``word`` needs the next token to know that a word is over: that is its cost."""
    boundary, max_chars = _KINDS[pace]
    return Pacer(boundary, max_chars)


def merge(deltas: list[Delta]) -> Delta:
    """One delta that stands for a run of them: the last one's place and time, all their text."""
    if len(deltas) == 1:
        return deltas[0]
    last = deltas[-1]
    return Delta(
        reply=last.reply,
        seq=last.seq,
        text="".join(d.text for d in deltas),
        tokens=sum(d.tokens for d in deltas),
        t=last.t,
        info=[i for d in deltas for i in d.info],
    )


# Private


def _after_token(held: str, following: str) -> bool:
    return True


def _after_word(held: str, following: str) -> bool:
    if held[-1:].isspace() or following[:1].isspace():
        return True
    return bool(_UNSPACED.match(held[-1:]) or _UNSPACED.match(following[:1]))


def _after_sentence(held: str, following: str) -> bool:
    if held.endswith("\n") or _FULL_STOP_CJK.search(held):
        return True
    # A point inside 3.14 or e.g. is no end: white space has to follow.
    return bool(_SENTENCE_END.search(held)) and (held[-1:].isspace() or following[:1].isspace())


def _never(held: str, following: str) -> bool:
    return False


_KINDS: dict[Pace, tuple[Boundary, int | None]] = {
    "token": (_after_token, None),
    "word": (_after_word, MAX_WORD_CHARS),
    "sentence": (_after_sentence, MAX_SENTENCE_CHARS),
    "whole": (_never, None),
}
