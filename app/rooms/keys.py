"""Keys: secrets of teachers and phones: made at random, kept as digests only.

A digest is enough to know a secret again, and whoever reads the file cannot use it. They have 128
random bits, so a plain hash will do: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import secrets

#: Longest thing that is looked at as a key at all.
MAX_KEY_CHARS = 64


def new_key() -> str:
    """A fresh secret of 128 bits, as URL-safe text."""
    return secrets.token_urlsafe(16)


def digest(key: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(key.encode()).hexdigest()
