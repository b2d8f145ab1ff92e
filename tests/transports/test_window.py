from hypothesis import given
from hypothesis import strategies as st

from app.transports.window import WIDE_BYTES, Window

ROOM = 3900


class FarEnd:
    """A kernel with a small buffer, and its reader. It gives room back as Linux does at worst.

    What is confirmed before it is read makes the window smaller for good; only when it could be twice as
    wide, or is asked for less than a half of the buffer, is it opened again.
    """

    def __init__(self, buffer: int = ROOM) -> None:
        self.buffer = self.room = buffer
        self.confirmed = self.unread = 0
        self.window = Window()
        self.window.hear(0, buffer)

    def arrive(self, size: int, read_first: bool = False) -> None:
        """Bytes arrive, as many as there is room for, and are confirmed; ``read_first``: as they are read."""
        size = min(size, self.room)
        self.confirmed += size
        if not read_first:
            self.room -= size
            self.unread += size
        self.window.hear(self.confirmed, self.room)

    def read(self) -> None:
        """Everything; it is told to the sender only if it opens the window by enough."""
        self.unread = 0
        if 2 * self.room <= self.buffer - 250:
            self.room = self.buffer
            self.window.hear(self.confirmed, self.room)


@given(st.lists(st.tuples(st.integers(1, 1200), st.booleans()), max_size=200))
def test_one_that_reads_all_is_never_left_waiting(frames):
    end = FarEnd()
    for size, read_first in frames:
        end.arrive(size, read_first)
        end.read()
        assert end.window.taken == end.confirmed


@given(st.lists(st.tuples(st.integers(1, 1200), st.booleans()), max_size=50))
def test_after_one_heavy_frame_a_sleeper_is_known(frames):
    end = FarEnd()
    for size, read_first in frames:
        end.arrive(size, read_first)
        end.read()
    # While the room is as wide as ever there is no doubt; the first byte that stays unread raises it.
    end.arrive(1)
    assert end.window.weight > 0
    end.arrive(end.window.weight)
    taken = end.window.taken
    assert end.window.weight == 0
    for _ in range(50):
        end.arrive(20)
    assert end.window.taken == taken < end.confirmed
    end.read()
    assert end.window.taken == end.confirmed


@given(st.lists(st.integers(WIDE_BYTES, 10_000_000), max_size=50))
def test_of_a_wide_buffer_all_is_taken_and_nothing_is_made_heavy(rooms):
    window = Window()
    for confirmed, room in enumerate(rooms):
        window.hear(confirmed, room)
        assert window.taken == confirmed and window.weight == 0


def test_a_wide_buffer_that_is_nearly_full_is_not_read_from():
    window = Window()
    window.hear(1000, 65_536)
    window.hear(65_000, 1_000)
    assert window.taken == 1000
    window.hear(65_000, 40_000)
    assert window.taken == 65_000
