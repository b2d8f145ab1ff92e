"""The strip as SVG, for a page without scripts: one reply's arrivals on an axis. Pure.

It draws what the chat page draws: a hatched block while there was nothing to read, a tick for each
arrival, the taller the more words it brought, and an end cap. It refuses to know where it is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from app.timeline.arrivals import Arrival

_WIDTH, _HEIGHT, _GROUND = 800.0, 84.0, 60.0
_FULL_WORDS = 64
_STEPS_MS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000)
_MAX_LABELS = 10


def strip_svg(arrivals: Sequence[Arrival], *, end_ms: float, axis_ms: float, label: str) -> Markup:
    """An ``<svg>`` of the reply; ``label`` is its words for those who do not see it."""
    scale = (_WIDTH - 8) / max(axis_ms, 1.0)
    first_x = arrivals[0].at_ms * scale if arrivals else end_ms * scale
    ticks = "".join(
        f"M{arrival.at_ms * scale:.1f} {_GROUND:g}V{_GROUND - _height(arrival.words):.1f}"
        for arrival in arrivals
    )
    parts = [
        f'<rect class="wait" x="0.5" y="6.5" width="{max(1.0, first_x):.1f}" height="{_GROUND - 7:g}"/>',
        f'<line class="ground" x1="0" x2="{_WIDTH:g}" y1="{_GROUND + 0.5:g}" y2="{_GROUND + 0.5:g}"/>',
        f'<path class="ticks{" single" if len(arrivals) == 1 else ""}" d="{ticks}"/>',
        f'<rect class="end" x="{end_ms * scale + 2:.1f}" y="6" width="3" height="{_GROUND - 6:g}"/>',
        *_axis(axis_ms, scale),
    ]
    opening = Markup('<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">').format(
        _WIDTH, _HEIGHT, label
    )
    return opening + Markup("".join(parts)) + Markup("</svg>")


# Private


def _height(words: int) -> float:
    share = min(1.0, 0.3 + 0.7 * math.log2(1 + words) / math.log2(1 + _FULL_WORDS))
    return share * (_GROUND - 8)


def _axis(axis_ms: float, scale: float) -> list[str]:
    step_ms = next((step for step in _STEPS_MS if axis_ms / step <= _MAX_LABELS), _STEPS_MS[-1])
    marks = []
    for number in range(int(axis_ms // step_ms) + 1):
        x = number * step_ms * scale
        anchor = "start" if number == 0 else "end" if x > _WIDTH - 30 else "middle"
        marks.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_GROUND:g}" y2="{_GROUND + 6:g}"/>')
        text = f"{number * step_ms / 1000:g} s"
        marks.append(f'<text x="{x:.1f}" y="{_HEIGHT - 6:g}" text-anchor="{anchor}">{text}</text>')
    return marks
