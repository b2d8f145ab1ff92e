"""Virtual users: who comes when, asks how much and wants how long an answer. Seeded and pure.

They arrive by a Poisson process, as people do who know nothing of each other. The same seed brings
the same users, so that two ways of serving them can be compared. It refuses to know engines.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import msgspec

_WORDS = ("river", "stone", "window", "paper", "garden", "morning", "engine", "letter", "silver", "north")


@dataclass(frozen=True, slots=True)
class Habits:
    """``users`` people at ``per_second`` on average; answers of ``least`` to ``most`` tokens each.

    One of them, who comes when half of the others are there, asks with ``long_words`` words.
    """

    users: int
    per_second: float
    prompt_words: int
    long_words: int
    least: int
    most: int
    seed: int


class User(msgspec.Struct, frozen=True):
    """One of them; ``arrives_ms`` counts from the beginning."""

    number: int
    arrives_ms: float
    prompt_words: int
    answer_tokens: int


def users(habits: Habits) -> list[User]:
    """All of them, the earliest first; the first comes at once."""
    chance = random.Random(habits.seed)
    at_ms = 0.0
    made = []
    for number in range(1, habits.users + 1):
        tokens = chance.randint(habits.least, habits.most)
        words = habits.long_words if number == habits.users // 2 + 1 else habits.prompt_words
        made.append(User(number, round(at_ms, 3), words, tokens))
        at_ms += chance.expovariate(habits.per_second) * 1000
    return made


def question(user: User, salt: str) -> str:
    """What the user says. ``salt`` makes a run's prompts new, so that no earlier one is remembered."""
    chance = random.Random(f"{salt} {user.number}")
    words = " ".join(chance.choice(_WORDS) for _ in range(user.prompt_words))
    return f"{salt}-{user.number}: {words}"
