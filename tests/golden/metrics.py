"""The golden file of the metrics, which app/timeline and its twin in static/js/measure must both meet.

``cases``, each one reply as its reader saw it:
    name        what is odd about it
    arrivals    [{at_ms: since the request was sent, tokens, words: what this arrival brought}], in order
    parameters  {ttft_target_ms, tokens_per_second: the reader's (QoE, idle latency),
                 first_deadline_ms, deadline_ms: (fluidity)}
    expected    {ttft_ms, last_ms, tpot_ms, gaps_per_chunk {p50_ms, p95_ms, max_ms}, gaps_per_token
                 {the same}, tokens_per_second, qoe, fluidity, idle_ms}; null: there is no such number
``reading``, how many words a person has read, which pages alone show: {name, arrivals, now_ms,
words_per_minute, expected}.

Expected values were computed with exact fractions, by closed forms instead of the code's recursions, and are
rounded to six places: compare with a tolerance of 1e-6 of the value, and of 1e-6 at least. The first
six cases are the table that the project's definitions came with; the test has its printed digits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.timeline.arrivals import Arrival

_FILE: dict[str, list[dict[str, Any]]] = json.loads(Path(__file__).with_name("metrics.json").read_text())

CASES = _FILE["cases"]


def arrivals_of(case: dict[str, Any]) -> list[Arrival]:
    """The case's arrivals as the code takes them."""
    return [Arrival(entry["at_ms"], entry["tokens"], entry["words"]) for entry in case["arrivals"]]
