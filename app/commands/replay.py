"""`firstword replay`: play a recording in the terminal, with the times it had.

Behind it are the same log and the same paces as behind every wire; only the engine is a recording's
player. Numbers are always the recorded ones, whatever speed it is played at. It refuses to know the
format (app.replay) and how numbers are made (app.timeline).
"""

from __future__ import annotations

import asyncio
import json
import secrets
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from app.commands.exits import CommandError, one_line_errors
from app.commands.terminal import printable, spell_ms
from app.errors import FirstwordError
from app.events import Delta
from app.replay.player import Player
from app.replay.recording import Recording, load_recording
from app.reply.pace import Pace
from app.reply.reader import Reader
from app.reply.registry import Replies
from app.settings import Settings
from app.timeline.arrivals import Arrival
from app.timeline.numbers import Numbers, numbers_of
from app.timeline.reading import words_brought, words_in
from app.timeline.terminal_strip import draw_strip

#: The clock that runs while there is nothing to read: tenths are what an eye can follow.
_TICK_S = 0.1
_STRIP_COLUMNS = 100


def replay(
    file: Annotated[Path, typer.Argument(help="A recording, as `firstword record` or the page saves it.")],
    speed: Annotated[float, typer.Option(min=0.1, max=4, help="2: twice as fast.")] = 1.0,
    whole: Annotated[bool, typer.Option("--whole", help="All at once, as without streaming.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON; play nothing.")] = False,
) -> None:
    """Play a recording in the terminal with its own timing, then show its strip and numbers.

    Exit codes: 0 well, 1 the file cannot be read or is no recording, 2 wrong usage.
    """
    with one_line_errors():
        recording = _load(file)
        if as_json:
            print(json.dumps(_summary(recording, whole), ensure_ascii=False))
            return
        console = Console(highlight=False, markup=False)
        _open(console, recording, speed)
        asyncio.run(_play(console, recording, "whole" if whole else "token", speed))
        _close(console, recording, whole)


def arrivals_of(recording: Recording, *, whole: bool = False) -> list[Arrival]:
    """What a reader on the server itself would have seen, streamed or all at once; recorded times."""
    reply = recording.reply
    if whole:
        return [Arrival(reply.done.t, sum(d.tokens for d in reply.deltas), words_in(reply.text))]
    words = words_brought(delta.text for delta in reply.deltas)
    return [Arrival(delta.t, delta.tokens, count) for delta, count in zip(reply.deltas, words, strict=True)]


# Private


def _load(file: Path) -> Recording:
    try:
        return load_recording(file)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except FirstwordError as error:
        raise CommandError(f"{file} cannot be played: {printable(error.message)}") from None


def _open(console: Console, recording: Recording, speed: float) -> None:
    model, machine = recording.model, recording.hardware
    where = ", ".join(part for part in (model.device, machine.cpu, recording.made_at) if part)
    at = "" if speed == 1 else f" Played at {speed:g} times its speed."
    console.print(f"RECORDING: {printable(recording.title)}", style="bold")
    console.print(printable(f"{model.name} ({where}).{at}"), style="dim")
    for message in recording.prompt.messages:
        console.print(printable(f"{message.role}: {message.content}"), style="dim")
    console.print()


async def _play(console: Console, recording: Recording, pace: Pace, speed: float) -> None:
    player = Player(recording, speed=speed)
    reply = Replies(player, Settings()).start(player.prompt(secrets.token_hex(8)), slow_policy="buffer")
    reader = reply.attach(pace)
    first = await _wait_for_text(console, reader)
    if first is not None:
        console.out(printable(first.text), end="")
        async for event in reader:
            if isinstance(event, Delta):
                console.out(printable(event.text), end="")
    if reply.failure is not None:
        raise CommandError(f"the recording could not be played: {reply.failure}")
    console.print("\n")


async def _wait_for_text(console: Console, reader: Reader) -> Delta | None:
    """The first delta; until then a clock shows how long there has been nothing to read."""
    waiting = asyncio.ensure_future(_next_delta(reader))
    began_s = asyncio.get_running_loop().time()
    with Live(console=console, transient=True, auto_refresh=False) as live:
        while not waiting.done():
            waited_s = asyncio.get_running_loop().time() - began_s
            if console.is_terminal:
                live.update(Text(f"{waited_s:.1f} s: nothing to read yet", style="yellow"), refresh=True)
            await asyncio.wait({waiting}, timeout=_TICK_S)
    return waiting.result()


async def _next_delta(reader: Reader) -> Delta | None:
    async for event in reader:
        if isinstance(event, Delta):
            return event
    return None


def _close(console: Console, recording: Recording, whole: bool) -> None:
    end_ms = recording.reply.done.t
    width = min(console.width, _STRIP_COLUMNS)
    for label, as_whole in (("Streamed", False), ("All at once", True)):
        shown = "  (played just now)" if as_whole == whole else ""
        console.print(f"{label}{shown}", style="bold" if as_whole == whole else "dim")
        strip = draw_strip(
            arrivals_of(recording, whole=as_whole), end_ms=end_ms, axis_ms=max(500.0, end_ms), width=width
        )
        console.out(strip)
    for line in _lines(numbers_of(arrivals_of(recording, whole=whole))):
        console.out(line)
    console.print("Recorded times, as the server's clock had them: no network is in them.", style="dim")


def _lines(numbers: Numbers) -> list[str]:
    gaps, speed = numbers.gaps_per_chunk, numbers.tokens_per_second
    spread = "none: it came in one piece"
    if gaps.max_ms is not None:
        spread = (
            f"median {spell_ms(gaps.p50_ms)}, 95 of 100 below {spell_ms(gaps.p95_ms)}, "
            f"longest {spell_ms(gaps.max_ms)}"
        )
    return [
        "",
        f"First word  {spell_ms(numbers.ttft_ms)}",
        f"Last word   {spell_ms(numbers.last_ms)}",
        f"Gaps        {spread}",
        f"Tokens      {numbers.tokens}" + ("" if speed is None else f" at {speed:.1f} a second"),
    ]


def _summary(recording: Recording, whole: bool) -> dict[str, object]:
    return {
        "recording": recording.id,
        "title": recording.title,
        "model": recording.model.name,
        "made_at": recording.made_at,
        "whole": whole,
        "text": recording.reply.text,
        "numbers": msgspec.to_builtins(numbers_of(arrivals_of(recording, whole=whole))),
    }
