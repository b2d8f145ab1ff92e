"""Scenes: what users feel that no steady load shows. Each gives one number and its formula.

A long prompt arriving among streams, the second turn of a long conversation, what streaming costs,
a reader that stalls beside others. It refuses to know how servers are started and how results are
printed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from statistics import median

from bench.delivery import delivery
from bench.dialects import Message, user
from bench.formulas import (
    gaps_ms,
    longest_over_median,
    median_bounds,
    percentile,
    ratio,
    total_ms,
    ttft_ms,
)
from bench.load import Load
from bench.scene import Milestone, Scene

_OTHERS = 3
#: Lines that each of the others has before the newcomer arrives.
_SETTLED_LINES = 24
_LONG_TOKENS = 192
_REPEATS = 3
#: So many sleep at once: what one of them costs is less than a machine's own changes of speed.
_SLEEPERS = 8
_STALLED_TOKENS = 1000


async def newcomer(load: Load) -> Scene:
    """A 600-token prompt arrives while three others stream."""
    ratios: list[float] = []
    for _ in range(_REPEATS):
        settled = Milestone(_OTHERS, _SETTLED_LINES)
        others = asyncio.gather(
            *[
                load.stream(load.question("short"), _LONG_TOKENS, on_line=settled.counter(i))
                for i in range(_OTHERS)
            ]
        )
        if not await settled.or_end_of(others):
            continue
        joined = await load.stream(load.question("long"), 8)
        streams = await others
        if joined.error is None and all(stream.error is None for stream in streams):
            found = longest_over_median(streams, joined.began_ns, joined.arrivals_ns[0])
            ratios += [found] if found is not None else []
    return Scene(
        "a 600-token prompt arrives while three others stream",
        "longest gap of the three between its arrival and its first text ÷ the median of all their gaps; "
        f"median of {_REPEATS} runs",
        median(ratios) if ratios else None,
        "×",
        f"worst of {len(ratios)}: {max(ratios):.2f}"
        if ratios
        else "the others were over too soon, or failed",
    )


async def second_turn(load: Load) -> Scene:
    """The next question of a conversation that has 600 tokens and an answer: three words."""
    return await _second_turn(load, "a question of three words", lambda: user("Why is that?"))


async def long_second_turn(load: Load) -> Scene:
    """The same with more to read."""
    return await _second_turn(load, "a question of some 20 words", lambda: load.question("short"))


async def cost_of_streaming(load: Load) -> Scene:
    """The same work streamed and in one piece, in pairs, each of the two first in turn."""
    users = _OTHERS + 1
    ratios: list[float] = []
    for pair in range(load.pairs):
        totals: dict[bool, float | None] = {}
        for streamed in (True, False) if pair % 2 else (False, True):
            totals[streamed] = await _median(load, users, streamed=streamed)
        found = ratio(totals[True], totals[False])
        ratios += [found] if found is not None else []
    return Scene(
        "cost of streaming",
        f"median total streamed ÷ median total in one piece, {users} users; their client sleeps until then, "
        "so that its work is not in it; median of pairs",
        median(ratios) if ratios else None,
        "×",
        _spread(ratios),
    )


async def stalled_readers(load: Load) -> Scene:
    """Three users beside eight that asked for 1,000 tokens each and have stopped reading.

    Until a server has found out, a sleeper costs what any other user costs: it is one. What it costs
    from then on is the question, so they begin some time after all fell asleep. In pairs, each of the
    two first in turn, because a machine grows faster and slower by more than what is looked for.
    """
    ratios: list[float] = []
    notes: list[str] = []
    for pair in range(load.pairs):
        totals: dict[bool, float | None] = {}
        for beside in (True, False) if pair % 2 else (False, True):
            totals[beside] = await (
                _median_beside_sleepers(load, notes) if beside else _median(load, _OTHERS)
            )
        found = ratio(totals[True], totals[False])
        ratios += [1 + (found - 1) / _SLEEPERS] if found is not None else []
    return Scene(
        "a stalled reader beside three others",
        f"1 + (median total of the others' answers beside {_SLEEPERS} of them ÷ the same without − 1) ÷ "
        f"{_SLEEPERS}, {load.asleep_s:g} s after they stopped reading their {_STALLED_TOKENS} tokens at the "
        "second; median of pairs, bounds by order statistics (sign test)",
        median(ratios) if ratios else None,
        "×",
        "; ".join([_spread(ratios), *dict.fromkeys(notes)]),
    )


SCENES: tuple[Callable[[Load], Awaitable[Scene]], ...] = (
    newcomer,
    second_turn,
    long_second_turn,
    cost_of_streaming,
    delivery,
    stalled_readers,
)


# Private


async def _second_turn(load: Load, length: str, question: Callable[[], list[Message]]) -> Scene:
    ratios: list[float] = []
    note = ""
    for _ in range(_REPEATS):
        talk = load.question("long")
        first = await load.stream(talk)
        await asyncio.sleep(load.reading_s)
        second = await load.stream([*talk, {"role": "assistant", "content": first.text}, *question()])
        if first.error or second.error:
            note = first.error or second.error or ""
            continue
        step_ms = median(gaps_ms(second))
        ratios.append(ttft_ms(second) / step_ms)
        note = f"last: {ttft_ms(second):.0f} ms ÷ {step_ms:.1f} ms; first turn {ttft_ms(first):.0f} ms"
    return Scene(
        f"second turn after a 600-token conversation, {length}",
        f"TTFT of the second turn, {load.reading_s:g} s after the first answer's end, ÷ its own median gap; "
        f"one user, median of {_REPEATS} runs",
        median(ratios) if ratios else None,
        "steps",
        note,
    )


async def _median_beside_sleepers(load: Load, notes: list[str]) -> float | None:
    begun = Milestone(_SLEEPERS, lines=2)
    asleep = [
        asyncio.ensure_future(
            load.stream(
                load.question("short"), _STALLED_TOKENS, on_line=begun.counter(i), stall_after_lines=2
            )
        )
        for i in range(_SLEEPERS)
    ]
    await begun.or_end_of(asyncio.gather(*asleep, return_exceptions=True))
    await asyncio.wait(asleep, timeout=load.asleep_s)
    beside = await _median(load, _OTHERS)
    if over := [each for each in asleep if each.done()]:
        notes.append(f"a stalled answer was over before: {over[0].result().error}")
    for each in asleep:
        each.cancel()
    await asyncio.gather(*asleep, return_exceptions=True)
    # One more answer gives the server time to notice the broken connections.
    await load.stream(load.question("short"), 8)
    return beside


async def _median(load: Load, users: int, *, streamed: bool = True) -> float | None:
    """The median total of so many users' answers, in milliseconds."""
    questions = [load.question("short") for _ in range(users)]
    answers = await asyncio.gather(*[load.total(question, streamed=streamed) for question in questions])
    return percentile([total_ms(each.began_ns, each.ended_ns) for each in answers if each.error is None], 0.5)


def _spread(ratios: list[float]) -> str:
    bounds = median_bounds(ratios)
    count = f"{len(ratios)} pairs"
    return f"{count}, 95 % between {bounds[0]:.3f} and {bounds[1]:.3f}" if bounds else count
