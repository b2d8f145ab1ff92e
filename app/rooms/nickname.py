"""Nickname: a made-up name, so that nobody has to give one and nobody can give a bad one.

An adjective and an animal, drawn by chance from our own lists. The teacher approves it before
anybody sees it: even harmless words can hurt in a class that has a history. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container

_ADJECTIVES = (
    "Amber", "Brave", "Breezy", "Bright", "Calm", "Clever", "Copper", "Curious", "Dapper", "Eager", "Early",
    "Fair", "Fleet", "Gentle", "Glad", "Golden", "Handy", "Humble", "Jolly", "Keen", "Kind", "Lively",
    "Lucky", "Mellow", "Merry", "Nimble", "Patient", "Quick", "Quiet", "Silver", "Steady", "Sunny",
    "Swift", "Thoughtful", "Tidy", "Warm", "Wise", "Witty", "Zesty", "Zippy",
)  # fmt: skip
_ANIMALS = (
    "Badger", "Beaver", "Bison", "Bulbul", "Camel", "Crane", "Deer", "Dolphin", "Eagle", "Egret", "Falcon",
    "Finch", "Gecko", "Hare", "Heron", "Ibex", "Ibis", "Jackdaw", "Kestrel", "Kingfisher", "Koala", "Lark",
    "Lemur", "Lynx", "Macaw", "Mongoose", "Myna", "Newt", "Otter", "Panda", "Parakeet", "Peafowl",
    "Puffin", "Quail", "Robin", "Seal", "Starling", "Swan", "Tapir", "Tern", "Tortoise", "Wren", "Yak",
    "Zebra",
)  # fmt: skip


def nickname(seed: str, number: int, spin: int, taken: Container[str]) -> str:
    """The name of participant ``number`` after ``spin`` wishes for another; never one that is taken."""
    total = len(_ADJECTIVES) * len(_ANIMALS)
    digest = hashlib.blake2b(f"{seed}:{number}:{spin}".encode(), digest_size=8).digest()
    start = int.from_bytes(digest) % total
    for step in range(total):
        place = (start + step) % total
        name = f"{_ADJECTIVES[place % len(_ADJECTIVES)]} {_ANIMALS[place // len(_ADJECTIVES)]}"
        if name not in taken:
            return name
    return f"Guest {number}"
