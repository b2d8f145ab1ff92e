"""Meter: how many generations a server says are running, from the text that Prometheus reads. Pure."""

from __future__ import annotations

import re

#: One name for each kind of server; the gauges of several engines in one server are added up.
_RUNNING = (
    "firstword_running",
    "vllm:num_requests_running",
    "sglang:num_running_reqs",
    "llamacpp:requests_processing",
    "tgi_batch_current_size",
)


def running(exposition: str) -> float | None:
    """The count; None: the text has none that we know."""
    for name in _RUNNING:
        pattern = rf"^{re.escape(name)}(?:\{{[^}}\n]*\}})?\s+([0-9.eE+-]+)"
        values = re.findall(pattern, exposition, re.MULTILINE)
        if values:
            return sum(float(value) for value in values)
    return None
