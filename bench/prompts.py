"""Prompts: short (about 40 tokens with the template) and long (about 600), all different.

No two users, rounds or cells may share a beginning, else a server with a prefix cache would be
measured by its cache. So each prompt opens with a number and words drawn from it. The text is
deterministic: every server gets exactly the same. It refuses to know servers and tokens.
"""

from __future__ import annotations

import random

KINDS = ("short", "long")

_THINGS = (
    "kettle", "lantern", "harbour", "orchard", "violin", "glacier", "compass", "bakery", "tunnel", "market",
    "windmill", "telescope", "garden", "ferry", "library", "workshop", "bridge", "clock", "meadow", "station",
)  # fmt: skip
_QUALITIES = (
    "quiet", "copper", "distant", "narrow", "patient", "crooked", "bright", "ancient", "hollow", "gentle",
    "rusty", "tall", "curious", "heavy", "plain", "sudden",
)  # fmt: skip
_QUESTIONS = (
    "Why would anybody build a {a} {b} next to a {c}?",
    "Tell a short story of a {a} {b} and the {c} it longed for.",
    "Explain to a child how a {a} {b} differs from a {c}.",
    "Give three reasons to prefer a {a} {b} over a {c}.",
)
_SENTENCES = (
    "The {a} {b} stood behind the {c} for as long as anybody could remember, and few asked why.",
    "Every autumn the people of the {c} carried a {a} {b} up the hill and down again.",
    "It was said that whoever repaired the {b} would find the {c} {a} for the rest of the year.",
    "Merchants who passed the {c} paid for the {b} with wool, salt and {a} stories.",
    "When the {b} broke, the {c} stayed closed for a week and the evenings grew {a}.",
)
#: So many sentences make about 600 tokens with the default model's vocabulary and template.
_LONG_SENTENCES = 25


def prompt(kind: str, number: int) -> str:
    """The text of prompt ``number`` of a kind; another number begins differently."""
    dice = random.Random(f"{kind} {number}")
    opening = f"{number}, {dice.choice(_QUALITIES)} {dice.choice(_THINGS)}. "
    if kind == "short":
        return opening + _filled(dice, _QUESTIONS)
    body = " ".join(_filled(dice, _SENTENCES) for _ in range(_LONG_SENTENCES))
    return f"{opening}Read this report and sum it up in a few sentences.\n\n{body}"


# Private


def _filled(dice: random.Random, sentences: tuple[str, ...]) -> str:
    b, c = dice.sample(_THINGS, 2)
    return dice.choice(sentences).format(a=dice.choice(_QUALITIES), b=b, c=c)
