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
        #: Tokens whose text was told, so that a reader can have read them.
        self.made = 0
        self.read = 0
        # Tokens the engine is known to have made. It may be more than ``made``: an engine tells
        # tokens with the text they belong to, and stops at its grant whether they have one or not.
        self._seen = 0
        # Telling the engine of every single token read would cost a message each.
        self._stride = max(1, (high - low) // 6)

    @property
    def unread(self) -> int:
        """Tokens told and not yet read: the level of the buffer."""
        return self.made - self.read

    @property
    def stopped(self) -> bool:
        """Whether the generation, as far as we know, needs a new grant to go on."""
        return self._seen >= self.granted

    def make(self, tokens: int) -> None:
        """The generation has told so many more."""
        self.made += tokens
        self._seen = max(self._seen, self.made)

    def stop(self, made: int = 0) -> None:
        """The generation says that it has stopped, after so many tokens (0: as many as granted)."""
        self._seen = max(self._seen, made or self.granted)

    def advance(self, read: int) -> int | None:
        """The reader has now read so many in all; returns the new grant when it is time for one."""
        self.read = max(self.read, read)
        if self.stopped and self.unread > self.low:
            return None
        # Tokens that the engine still keeps to itself cannot be read: they must not use up the
        # grant, or a long run of them would stop the generation for good.
        grant = self.read + (self._seen - self.made) + self.high
        if grant - self.granted < (1 if self.stopped else self._stride):
            return None
        self.granted = grant
        return grant

    def hold(self) -> int:
        """The reader seems to be gone: stop where the generation is. Returns the new grant, a lower one."""
        self.granted = self._seen
        return self.granted

    def lift(self, tokens: int) -> int:
        """Nobody reads at the moment: let the generation run to its end. Returns the new grant."""
        self.granted = tokens
        return tokens

    def restore(self) -> int:
        """A reader is back: from here on it is waited for again. Returns the new grant.

        It may be lower than the last one, and lower than what an engine in another process has
        made by now; then the engine stops at once.
        """
        self.granted = self._seen + self.high
        return self.granted
