"""A diagnosis on the screen: the answer first, then what was seen, then findings with their fixes.

It refuses to examine and to judge.
"""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding

from app.client.doctor.finding import Diagnosis
from app.client.doctor.observations import Observations
from app.client.doctor.rhythm import rhythm_of
from app.client.measurement import arrivals_of
from app.client.target import Target
from app.commands.measure_text import clean
from app.commands.terminal import spell_ms
from app.timeline.terminal_strip import draw_strip

_ANSWERS = {True: "It streams.", False: "It does not stream.", None: "Whether it streams could not be told."}
_MARKS = {"error": "[bold red]error[/]  ", "warning": "[bold yellow]warning[/]"}
#: Those that decide how a stream travels.
_HEADERS = (
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "content-length",
    "cache-control",
    "x-accel-buffering",
    "via",
    "server",
)


def show(console: Console, target: Target, seen: Observations, diagnosis: Diagnosis) -> None:
    """Print everything."""
    assert target.dialect is not None
    console.print(f"[bold]{clean(target.url)}[/]  {clean(target.dialect.title)}")
    console.print(f"[bold]{_ANSWERS[diagnosis.streams]}[/]\n")
    _seen(console, seen)
    for finding in diagnosis.findings:
        console.print(f"\n{_MARKS[finding.severity]} [bold]{finding.code}[/]")
        console.print(Padding(clean(finding.what), (0, 0, 0, 8)))
        console.print(Padding(f"[dim]Fix:[/] {clean(finding.fix)}", (0, 0, 0, 8)))
    if not diagnosis.findings:
        console.print("\nNo findings.")
    for note in diagnosis.notes:
        console.print(f"[dim]note: {clean(note)}[/]")


# Private


def _seen(console: Console, seen: Observations) -> None:
    rhythm, head = rhythm_of(seen.streamed), seen.streamed.head
    console.print(
        f"Head after {spell_ms(rhythm.head_ms)}, first text after {spell_ms(rhythm.first_ms)}, last after "
        f"{spell_ms(rhythm.last_ms)}; {rhythm.pieces} pieces of text in {len(rhythm.bursts)} bursts.",
        highlight=False,
    )
    if head is not None:
        shown = [f"{name}: {value}" for name in _HEADERS if (value := head.get(name)) is not None]
        console.print(
            clean(f"HTTP/{head.version} {head.status}, {'; '.join(shown)}"), style="dim", highlight=False
        )
    arrivals = arrivals_of(seen.streamed)
    if arrivals:
        end_ms = (seen.streamed.ended_ns - seen.streamed.scheduled_ns) / 1e6
        console.print(
            draw_strip(arrivals, end_ms=end_ms, width=min(100, console.width)), markup=False, highlight=False
        )
