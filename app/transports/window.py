"""Window: what the room in a far end's buffer tells of its reader. Pure.

A kernel confirms bytes whether its program reads them or not, but with each confirmation it says how
much room is left. Who reads has to be told of more before it is less than half (RFC 1122, 4.2.3.3),
unless its system is short of memory. Linux calls a little less than half still half; so it is what
arrives while the room is less than a third that lies there unread.

Between that and the widest the room says nothing sure: some systems, Linux for one, do not give back
what was confirmed a moment before it was read, and take the next bytes without a word. Short frames
could go on so for seconds; one of enough ``weight`` shows at once whether anybody reads. Of a wide buffer
the room tells nothing for a long time, which is as good as taken. It refuses to know sockets and time.
"""

from __future__ import annotations

#: With so much room nobody is taken for a sleeper.
WIDE_BYTES = 4096
#: Bytes that a heavy frame has above what is needed: so many may vanish in what was not given back.
_MARGIN_BYTES = 512


class Window:
    """One connection's; bytes are counted from its beginning."""

    def __init__(self) -> None:
        self._widest = 0
        #: Bytes that the reader has taken, as far as anybody can tell.
        self.taken = 0
        #: Bytes that would show whether it goes on; 0 where there is no doubt, or nothing would.
        self.weight = 0

    def hear(self, confirmed: int, room: int) -> None:
        """So many bytes are confirmed by now, and there is room for so many more."""
        self._widest = max(self._widest, room)
        widest = min(self._widest, WIDE_BYTES)
        spare = room - widest // 3
        if spare >= 0:
            self.taken = confirmed
        self.weight = spare + _MARGIN_BYTES if spare >= 0 and room < widest else 0
