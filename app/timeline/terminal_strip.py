"""The strip in characters, for terminals: the same picture as on the pages, in three lines.

    ░░░░░░░░▂▂ ▁▂▂▂▁ ▂▂▂ ▃▂│          ░ nothing to read yet; a tick for each arrival, the taller
            ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌→     the more words it brought; │ done
    0 s       0.5 s     1 s           ╌ somebody reading along; → goes on past the edge

It refuses to know terminals, colours and where the arrivals are from. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.timeline.arrivals import Arrival
from app.timeline.reading import WORDS_PER_MINUTE

_TICKS = "▁▂▃▄▅▆▇█"
_WAIT, _END, _READING, _FURTHER = "░", "│", "╌", "→"
#: So many words in one column reach the top; heights grow with the logarithm, as on the pages.
_FULL_WORDS = 64
#: Label distances that people can divide by, in ms.
_STEPS_MS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000)
_COLUMNS_PER_LABEL = 10


def axis_for(*last_ms: float) -> float:
    """An axis in ms on which all of these times lie; give it to several strips to compare them."""
    return max(500.0, *last_ms)


def draw_strip(
    arrivals: Sequence[Arrival],
    *,
    end_ms: float | None,
    axis_ms: float | None = None,
    width: int = 72,
    words_per_minute: float = WORDS_PER_MINUTE,
) -> str:
    """Three lines of at most ``width`` columns; ``end_ms`` is the reply's end, None while it goes on.

    ``axis_ms`` is what the width stands for; by default the strip fills it.
    """
    last_ms = max(arrivals[-1].at_ms if arrivals else 0.0, end_ms or 0.0)
    scale = _Scale(axis_ms or axis_for(last_ms), max(20, width))
    lines = (
        _ticks(arrivals, end_ms, last_ms, scale),
        _reading(arrivals, words_per_minute, scale),
        _axis(scale),
    )
    return "\n".join(line.rstrip() for line in lines)


# Private


class _Scale:
    """Milliseconds to columns."""

    def __init__(self, axis_ms: float, width: int) -> None:
        self.axis_ms = axis_ms
        self.width = width

    def column(self, at_ms: float) -> int:
        """0 to width - 2: the last column is left for the end cap."""
        return min(self.width - 2, max(0, int(at_ms / self.axis_ms * (self.width - 1))))


def _ticks(arrivals: Sequence[Arrival], end_ms: float | None, last_ms: float, scale: _Scale) -> str:
    cells = [" "] * scale.width
    first_ms = arrivals[0].at_ms if arrivals else last_ms
    for column in range(scale.column(first_ms) + (not arrivals)):
        cells[column] = _WAIT
    words: dict[int, int] = {}
    for arrival in arrivals:
        column = scale.column(arrival.at_ms)
        words[column] = words.get(column, 0) + arrival.words
    for column, count in words.items():
        cells[column] = _TICKS[round(_height(count) * (len(_TICKS) - 1))]
    if end_ms is not None:
        cells[scale.column(end_ms) + 1] = _END
    return "".join(cells)


def _height(words: int) -> float:
    """Share of the full height, as the pages draw it."""
    return min(1.0, 0.3 + 0.7 * math.log2(1 + words) / math.log2(1 + _FULL_WORDS))


def _reading(arrivals: Sequence[Arrival], words_per_minute: float, scale: _Scale) -> str:
    if not arrivals:
        return ""
    done_ms = arrivals[0].at_ms
    for arrival in arrivals:
        done_ms = max(done_ms, arrival.at_ms) + arrival.words * 60_000 / words_per_minute
    start = scale.column(arrivals[0].at_ms)
    clipped = done_ms > scale.axis_ms
    line = " " * start + _READING * (scale.column(done_ms) + 1 - start)
    return line[:-1] + _FURTHER if clipped else line


def _axis(scale: _Scale) -> str:
    room = max(1, scale.width // _COLUMNS_PER_LABEL)
    step_ms = next((step for step in _STEPS_MS if scale.axis_ms / step <= room), _STEPS_MS[-1])
    line = ""
    for number in range(int(scale.axis_ms // step_ms) + 1):
        label = f"{number * step_ms / 1000:g} s"
        column = scale.column(number * step_ms)
        if column >= len(line) and column + len(label) <= scale.width:
            line = line.ljust(column) + label + " "
    return line
