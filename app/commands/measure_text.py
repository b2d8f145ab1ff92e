"""A measurement on the screen: a table, the strips of one reply each on one axis, the formulas.

It refuses to measure and to compute.
"""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.client.exchange import Exchange
from app.client.measurement import Measurement, arrivals_of
from app.client.report import Setting
from app.commands.terminal import printable, spell_ms
from app.timeline.formulas import FORMULAS
from app.timeline.terminal_strip import axis_for, draw_strip

#: Pieces with so many tokens each are no longer steps of the model.
_MERGED = 1.2


def show(console: Console, measurement: Measurement, setting: Setting) -> None:
    """Print everything."""
    console.print(f"[bold]{clean(setting.url)}[/]  {clean(setting.dialect)}, model {clean(setting.model)}")
    console.print(f"[dim]{clean(setting.how)}[/]\n")
    if measurement.good:
        console.print(_table(measurement))
        for line in remarks(measurement):
            console.print(f"[dim]{escape(line)}[/]")
        _strips(console, measurement)
    for failure in measurement.failures:
        how = "streamed" if failure.streamed else "all at once"
        console.print(f"[red]failed[/] ({how}): {clean(failure.error or '')}")
    console.print()
    for name, formula in FORMULAS.items():
        console.print(f"[dim]{name} = {escape(formula.text)}  ({escape(formula.unit)})[/]")


def clean(text: str) -> str:
    """Somebody else's text, without what a terminal or rich's markup would obey."""
    return escape(printable(text))


def remarks(measurement: Measurement) -> list[str]:
    """What has to be known to read the numbers rightly, a sentence or two each."""
    told = []
    streamed, targets = measurement.result.streamed, measurement.targets
    if not measurement.tokens_told:
        told.append("The server does not count tokens: each piece of text stands for one.")
    elif streamed.chunks and streamed.tokens / streamed.chunks > _MERGED:
        each = streamed.tokens / streamed.chunks
        told.append(f"{each:.1f} tokens in a piece: the gaps are between pieces, not steps of the model.")
    cost, chance = measurement.result.cost_of_streaming, measurement.whole_spread
    if cost is not None and chance is not None and abs(cost - 1) < chance:
        told.append(
            f"Whole replies differ by {chance:.0%} among themselves: such a cost of streaming may be chance."
        )
    if (lag := measurement.lag) is not None:
        late, connecting = lag.due_to_begun_ms, lag.begun_to_sent_ms
        told.append(
            f"Sent {spell_ms(late[0])} after due (longest {spell_ms(late[1])}); connecting took "
            f"{spell_ms(connecting[0])}. Both are part of every time."
        )
    told.append("The question is the same each time: a server that caches prompts answers warm.")
    told.append(
        f"QoE: first word due after {spell_ms(targets.ttft_target_ms)}, then {targets.tokens_per_second:g} "
        f"tokens a second; fluidity: {spell_ms(targets.first_deadline_ms)}, then every "
        f"{spell_ms(targets.deadline_ms)}."
    )
    return told


# Private


def _table(measurement: Measurement) -> Table:
    result, streamed = measurement.result, measurement.result.streamed
    total = spell_ms(result.whole.total_ms)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("")
    table.add_column("Streamed", justify="right")
    table.add_column("All at once", justify="right")
    table.add_row("First word", f"[bold]{spell_ms(streamed.ttft_ms)}[/]", total)
    table.add_row("  95th percentile", spell_ms(measurement.ttft_p95_ms), "")
    table.add_row("Last word", spell_ms(streamed.last_ms), total)
    gaps = streamed.gaps_ms
    for name, value in (("p50", gaps.p50), ("p95", gaps.p95), ("p99", gaps.p99), ("max", gaps.max)):
        table.add_row(f"Gaps {name}", spell_ms(value), "")
    tokens = str(streamed.tokens) if measurement.tokens_told else "not told"
    table.add_row("Tokens / pieces", f"{tokens} / {streamed.chunks}", "")
    table.add_row("Tokens a second", _plain(measurement.tokens_per_second, 1), "")
    table.add_row("Cost of streaming", _times(result.cost_of_streaming), "")
    table.add_row("QoE", _plain(result.qoe, 3), "")
    table.add_row("Fluidity", _plain(result.fluidity, 3), "")
    return table


def _strips(console: Console, measurement: Measurement) -> None:
    whole = next((exchange for exchange in measurement.good if not exchange.streamed), None)
    drawn = [exchange for exchange in (measurement.typical, whole) if exchange is not None]
    axis_ms = axis_for(*(_end_ms(exchange) for exchange in drawn))
    for exchange in drawn:
        console.print("\nStreamed" if exchange.streamed else "\nAll at once")
        width = min(100, console.width)
        strip = draw_strip(arrivals_of(exchange), end_ms=_end_ms(exchange), axis_ms=axis_ms, width=width)
        console.print(strip, markup=False, highlight=False, soft_wrap=True)


def _end_ms(exchange: Exchange) -> float:
    return (exchange.deltas[-1].at_ns - exchange.scheduled_ns) / 1e6


def _plain(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _times(value: float | None) -> str:
    return "-" if value is None else f"x {value:.3f}"
