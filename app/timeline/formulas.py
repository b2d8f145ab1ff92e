"""Formulas: what each number of a measurement means, in one line each, with its source and its unit.

They stand below the numbers, on the screen and in the report; the pages have words of their own. It
refuses to compute any of them.
"""

from __future__ import annotations

import msgspec


class Formula(msgspec.Struct, frozen=True):
    """``text`` uses a_i for the arrival of token i, ``r`` for the reader's tokens a second."""

    text: str
    source: str
    unit: str


FORMULAS: dict[str, Formula] = {
    "ttft": Formula("first piece of text received - request sent", "common to all load generators", "ms"),
    "last": Formula("last piece of text received - request sent", "common: end-to-end latency", "ms"),
    "gap_chunk": Formula("time between two arrivals", "Firstword: what the reader sees", "ms"),
    "percentile": Formula(
        "linear between order statistics at (n - 1) * p", "Hyndman & Fan 1996, type 7; NumPy's default", "ms"
    ),
    "streaming_cost": Formula(
        "last piece streamed / last piece not streamed, same reply", "Firstword", "ratio; 1: none"
    ),
    "tpot": Formula(
        "(a_n - a_1) / (n - 1); none for one token", "common: time per output token", "ms per token"
    ),
    "tokens_per_second": Formula("1000 / TPOT: speed behind the first token", "common", "tokens/s"),
    "qoe": Formula(
        "1 - sum(c_i - d_i) / sum(c_i), with d_i = target + (i - 1)/r, c_1 = max(a_1, d_1), "
        "c_i = max(a_i, c_(i-1) + 1/r)",
        "Andes, arXiv 2404.16283 (December 2024)",
        "0 to 1",
    ),
    "fluidity": Formula(
        "1 - deadlines missed / all deadlines; a token late by L misses floor(L / deadline) + 1, "
        "an early one leaves slack",
        "Etalon, arXiv 2407.07000, counted as in its code",
        "0 to 1",
    ),
}
