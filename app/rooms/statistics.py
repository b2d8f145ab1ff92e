"""Statistics: what a class's votes say, and what they do not. Pure, exact, no library.

Wilson interval: for a share p = k/n and z = 1.96, the p0 for which (p - p0)^2 = z^2 p0 (1 - p0) / n;
good for small n, unlike p ± z·sqrt(p(1-p)/n) (Brown, Cai, DasGupta, Statistical Science 16:101, 2001).

Sign test: had everybody tossed a coin, how likely were a split at least as uneven as this one?
Two-sided, exact: 2 · P(X >= max(k, n-k)) for X binomial (n, 1/2), at most 1. Who cannot tell is left
out of it and reported.

It refuses to know rooms: numbers in, numbers out.
"""

from __future__ import annotations

import math

#: The normal distribution's 97.5 % point.
Z_95 = 1.959963984540054
LEVEL = 0.05
#: Below so many decided votes a test has hardly any power: the interval only, no verdict.
MIN_DECIDED = 20


def wilson(k: int, n: int, z: float = Z_95) -> tuple[float, float]:
    """The 95 % interval for the true share behind ``k`` of ``n``, within 0..1; (0, 1) for n = 0."""
    assert 0 <= k <= n
    if n == 0:
        return 0.0, 1.0
    share = k / n
    shrink = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / shrink
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / shrink
    # At the ends the formula gives 0 and 1 exactly; rounding may not.
    return (0.0 if k == 0 else max(0.0, middle - half)), (1.0 if k == n else min(1.0, middle + half))


def sign_test(k: int, n: int) -> float:
    """The exact two-sided p of ``k`` against ``n - k`` under a fair coin; 1 for n = 0."""
    assert 0 <= k <= n
    tail = sum(math.comb(n, i) for i in range(max(k, n - k), n + 1))
    # Whole numbers until here: n may be a whole lecture hall. The quotient of two of them is exact.
    return min(1.0, tail / (1 << n) * 2)


def needed(n: int, level: float = LEVEL) -> int | None:
    """The smallest majority of ``n`` with p <= level; None when not even all of them would do."""
    for k in range((n + 1) // 2, n + 1):
        if sign_test(k, n) <= level:
            return k
    return None


def holm(ps: list[float]) -> list[float]:
    """The same p values when several questions are asked in one lesson, in their own order."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted


def median(values: list[float]) -> float | None:
    """The middle value, or the mean of the two; None for none."""
    if not values:
        return None
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def shown_p(p: float) -> str:
    """A p value as it is read: never 0."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
