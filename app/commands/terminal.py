"""The terminal: what may be written to it, and how numbers are spelled there.

Text of models and of files is somebody else's: control characters in it could move the cursor or
write to the clipboard, so they are shown as U+FFFD. It refuses to know what is being said.
"""

from __future__ import annotations

import re

# C0 and C1 except tab and newline, and the marks that turn the direction of writing around.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """``text`` without anything that a terminal would obey."""
    return _CONTROLS.sub("\ufffd", text)


def spell_ms(ms: float | None) -> str:
    """ "84 ms", "1.82 s", "12.4 s", or a dash: three places are enough."""
    if ms is None:
        return "—"
    if ms < 999.5:
        return f"{max(0.0, ms):.0f} ms"
    return f"{ms / 1000:.2f} s" if ms < 9995 else f"{ms / 1000:.1f} s"
