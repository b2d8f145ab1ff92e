"""Pulse: whether a reader that owes something has stopped moving. Pure.

The high mark alone is slow to notice a sleeper where tokens are slow: 64 of them are three seconds at
twenty a second. So a reader is also waited for when it has not moved for ``STILL_S`` while it owes
more than the low mark, and more than it ever owed when it moved. The second condition is what makes
this fair: a far reader, or one that confirms by the dozen, is never taken for a sleeper, as it owes
no more than usual. One that never moved has no usual yet; for it there is the high mark only.

This goes beyond the two marks of the design (section 2), which it leaves as they are: a raw socket
that stops reading has to pause its generation within a second. It refuses to know clocks and engines.
"""

from __future__ import annotations

#: Long against what a network or a busy page does all the time, short against the second in which a
#: pause is to come. A pause too many costs the reader little: what it missed would have waited too.
STILL_S = 0.3
#: Of a time without any token no more counts than this: it may be we who were late, not the reader.
_LONGEST_GAP_S = 0.1


class Pulse:
    """One reply's readers taken as one; ``low`` in tokens, times in nanoseconds of any one clock."""

    def __init__(self, low: int) -> None:
        self._low = low
        #: The most it owed when it moved; None: it has not moved yet.
        self._usual: int | None = None
        self._still_ns = 0
        self._told_ns = 0

    def owe(self, before: int, now_ns: int) -> None:
        """More was told to a reader that owed ``before`` tokens."""
        if before:
            self._still_ns += min(now_ns - self._told_ns, round(_LONGEST_GAP_S * 1e9))
        else:
            # Its time begins with the first token that it has to read.
            self._still_ns = 0
        self._told_ns = now_ns

    def move(self, before: int) -> None:
        """The reader, which owed ``before`` tokens, has read some of them."""
        self._usual = max(self._usual or 0, before)
        self._still_ns = 0

    def is_still(self, owed: int) -> bool:
        """Whether a reader that owes so many tokens seems to read no more."""
        if self._usual is None or owed <= max(self._low, self._usual):
            return False
        return self._still_ns >= STILL_S * 1e9
