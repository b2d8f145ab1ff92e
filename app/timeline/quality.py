"""Quality: three published answers to "was it a good stream?", each blind somewhere.

QoE (Andes) compares with a reader who reads at a steady speed; the fluidity index (Etalon) counts
deadlines missed; idle latency tells how long a reader sat before an empty page, the wait for the
first word excepted. It refuses to choose targets: they are parameters, in every call.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.timeline.arrivals import Arrival, token_times

#: A nanosecond, in ms: sums of floats may miss an exact deadline by less, no clock of ours by more.
_EXACT_MS = 1e-6


def qoe(arrivals: Sequence[Arrival], ttft_target_ms: float, reader_tokens_per_second: float) -> float | None:
    """Quality of experience, 0 to 1, as in Andes (arXiv 2404.16283, version of December 2024).

    Token i should be there at d_i = target + (i - 1) / r; it is read at c_1 = max(a_1, d_1) and
    c_i = max(a_i, c_(i-1) + 1 / r). QoE = 1 - sum(c_i - d_i) / sum(c_i). None without tokens; 1 when
    everything was due, and came, at 0.
    """
    step_ms = 1000 / reader_tokens_per_second
    read_ms = wanted_ms = 0.0
    read_at_ms = due_ms = ttft_target_ms
    times = token_times(arrivals)
    for number, at_ms in enumerate(times):
        if number:
            due_ms = ttft_target_ms + number * step_ms
            read_at_ms += step_ms
        read_at_ms = max(at_ms, read_at_ms)
        read_ms += read_at_ms
        wanted_ms += due_ms
    if not times:
        return None
    # Rounding may leave a crumb on either side of a perfect score.
    return min(1.0, 1 - (read_ms - wanted_ms) / read_ms) if read_ms > 0 else 1.0


def fluidity(arrivals: Sequence[Arrival], first_deadline_ms: float, deadline_ms: float) -> float | None:
    """The fluidity index of Etalon (arXiv 2407.07000), counted as in its code: 1 - missed / all deadlines.

    A token that comes early leaves its time as slack to the next ones. One that is late by L behind
    its deadline and the slack misses floor(L / deadline) + 1 deadlines, and the slack is gone. (Its
    documentation shows the simpler share of tokens in time.) None without tokens.
    """
    slack_ms = before_ms = 0.0
    met = missed = 0
    allowed_ms = first_deadline_ms
    for at_ms in token_times(arrivals):
        late_ms = at_ms - before_ms - allowed_ms - slack_ms
        if late_ms <= _EXACT_MS:
            slack_ms = max(0.0, -late_ms)
            met += 1
        else:
            missed += int((late_ms + _EXACT_MS) // deadline_ms) + 1
            slack_ms = 0.0
        before_ms, allowed_ms = at_ms, deadline_ms
    return 1 - missed / (met + missed) if met + missed else None


def idle_ms(arrivals: Sequence[Arrival], reader_tokens_per_second: float) -> float | None:
    """The user's idle latency of Smooth Goodput (arXiv 2410.14257): max over i of (a_i - a_1) - (i - 1) / r.

    How late the latest token is for a reader who began with the first one. It does not see the wait
    for the first token: never show it alone. None without tokens.
    """
    step_ms = 1000 / reader_tokens_per_second
    times = token_times(arrivals)
    return max((at_ms - times[0] - number * step_ms for number, at_ms in enumerate(times)), default=None)
