"""Code: the six characters that let a phone into a room.

Without letters and digits that look alike (0 O, 1 I L), so that they can be read off a wall and
said aloud. A code is an invitation, not a secret of the teacher's: it gives a student's rights
only, and guessing is limited elsewhere (guesses). It refuses to know which codes are in use.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
LENGTH = 6


def new_code(choose: Callable[[str], str] = secrets.choice) -> str:
    """A fresh code: one of 31 to the power of 6."""
    return "".join(choose(ALPHABET) for _ in range(LENGTH))


def normal_code(text: str) -> str | None:
    """A code as somebody typed it (any case, spaces, hyphens); None when it cannot be one."""
    if len(text) > 4 * LENGTH:
        return None
    code = "".join(text.split()).replace("-", "").upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None
