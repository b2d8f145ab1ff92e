"""Credit: how many tokens a generation may make before a reader has caught up. Pure.

Backpressure in one rule. A sequence may run ``high`` tokens ahead of its reader; at that mark it
stops, and it goes on when the reader has come within ``low``. The gap between the two marks keeps
it from stopping and starting at every token. It refuses to know engines, readers and time.
"""

from __future__ import annotations


class Credit:
    """One reply's account, in tokens counted from the reply's first."""

    def __init__(self, high: int, low: int) -> None:
        assert 0 <= low < high
        self.high = high
        self.low = low
        self.granted = high
        self.made = 0
        self.read = 0
        #: The engine says that it has stopped (it may count tokens whose text it still holds back).
        self.paused = False
        # Telling the engine of every single token read would cost a message each.
        self._stride = max(1, (high - low) // 6)

    @property
    def unread(self) -> int:
        """Tokens made and not yet read: the level of the buffer."""
        return self.made - self.read

    def make(self, tokens: int) -> None:
        """The generation has made so many more."""
        self.made += tokens

    def advance(self, read: int) -> int | None:
        """The reader has now read so many in all; returns the new grant when it is time for one."""
        self.read = max(self.read, read)
        stopped = self.paused or self.made >= self.granted
        if stopped and self.unread > self.low:
            return None
        grant = self.read + self.high
        if not stopped and grant - self.granted < self._stride:
            return None
        if grant <= self.granted:
            return None
        self.granted = grant
        return grant

    def lift(self, tokens: int) -> int:
        """Nobody reads at the moment: let the generation run to its end. Returns the new grant."""
        self.granted = tokens
        return tokens

    def restore(self) -> int:
        """A reader is back: from here on it is waited for again. Returns the new grant."""
        self.granted = self.made + self.high
        return self.granted
