"""`firstword measure URL`: the first word, the gaps and the price of streaming, of any server.

It asks streamed and not streamed in turns and tells the numbers on the screen, as JSON or as an HTML
file. What is asked how is the client's; how it looks is measure_text's. ``measure`` is a long function
because a command's options are its parameters.

Exit codes: 0 all replies well, 1 a reply failed, 2 wrong usage, 3 cannot connect.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from app.client.asking import ask
from app.client.connection import Patience
from app.client.detection import settled
from app.client.dialects.dialect import Question
from app.client.exchange import Exchange
from app.client.load import Load, in_turns, run
from app.client.measurement import Measurement, measured
from app.client.report import Setting, render
from app.client.target import Target, read_target
from app.commands.exits import CANNOT_CONNECT, FAILED, CommandError, one_line_errors
from app.commands.measure_text import remarks, show
from app.commands.server_options import (
    DialectOption,
    KeyEnvOption,
    ModelOption,
    UrlArgument,
    file_to_write,
    key_of,
    prompt_of,
)

_PROMPT = "Why is the sky blue? Answer in one paragraph."


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is asked."""

    pairs: int
    load: Load
    warm_up: int
    whole: bool
    patience: Patience


def measure(
    url: UrlArgument,
    prompt: Annotated[str, typer.Option(help="What is asked.")] = _PROMPT,
    n: Annotated[int, typer.Option("-n", min=1, max=10_000, help="Questions, each streamed and whole.")] = 3,
    concurrency: Annotated[int, typer.Option(min=1, max=512, help="Under way at a time, at most.")] = 1,
    rate: Annotated[
        float | None, typer.Option(min=0.001, max=1000, help="Questions a second, whatever the server does.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, max=100_000, help="Length of an answer.")] = 128,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="[default: the server's]")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="[default: none]")] = None,
    model: ModelOption = "default",
    key_env: KeyEnvOption = None,
    dialect: DialectOption = None,
    warm_up: Annotated[int, typer.Option(min=0, max=100, help="Questions before, not counted.")] = 1,
    whole: Annotated[bool, typer.Option(help="Ask for whole answers, too.")] = True,
    patience_s: Annotated[float, typer.Option(min=0.1, max=3600, help="Silence that ends a reply.")] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="The numbers as JSON, for programs.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a report, one HTML file, here.")] = None,
) -> None:
    """Measure a server from outside: first word, last word, gaps, the cost of streaming.

    URL is a base or an endpoint of Firstword, of anything that speaks
    OpenAI's or Anthropic's API, or of plain chunked text.

    Without --rate the loop is closed: each of --concurrency users asks again
    once it is answered. With --rate it is open, and every time counts from
    when the question was due.

    Exit codes: 0 well, 1 a reply failed, 2 wrong usage, 3 cannot connect.
    """
    with one_line_errors():
        question = Question(prompt_of(prompt), max_tokens, model, temperature, seed, key_of(key_env))
        if html is not None:
            file_to_write(html)
        if rate is not None and concurrency == 1:
            # An open loop with one at a time would be a closed one.
            concurrency = 256
        plan = Plan(n, Load(concurrency, rate), warm_up, whole, Patience(silence_s=patience_s))
        target, question, measurement = asyncio.run(
            _measured(read_target(url, dialect), question, plan, quiet=as_json)
        )
        setting = _setting(target, question, plan)
        if html is not None:
            _write(html, render(measurement, setting, remarks(measurement)))
        _tell(measurement, setting, as_json)
        if measurement.failures:
            raise SystemExit(_exit_code(measurement))


# Private


async def _measured(
    target: Target, question: Question, plan: Plan, *, quiet: bool
) -> tuple[Target, Question, Measurement]:
    target, question = await settled(target, question)
    assert target.dialect is not None
    whole = plan.whole and target.dialect.ask_whole(question, target.path) is not None

    async def one(streamed: bool, due_ns: int | None) -> Exchange:
        return await ask(target, question, streamed=streamed, scheduled_ns=due_ns, patience=plan.patience)

    for _ in range(plan.warm_up):
        first = await one(True, None)
        if first.error is not None:
            raise CommandError(f"the first question failed: {first.error}", FAILED)
    jobs = in_turns(plan.pairs, whole=whole)
    with _progress(quiet) as progress:
        task = progress.add_task("asking", total=len(jobs))
        on_answer: Callable[[Exchange], None] = lambda answer: progress.advance(task)  # noqa: E731
        exchanges = await run(jobs, plan.load, one, on_answer)
    return target, question, measured(exchanges)


def _progress(quiet: bool) -> Progress:
    """On stderr, for people only, and gone when it is over."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)


def _setting(target: Target, question: Question, plan: Plan) -> Setting:
    assert target.dialect is not None
    load = plan.load
    if load.rate_per_s is None:
        users = "one at a time" if load.concurrency == 1 else f"{load.concurrency} at a time"
        how = f"{plan.pairs} questions, {users}"
    else:
        how = f"{plan.pairs} questions, {load.rate_per_s:g} a second whatever the server does"
    if plan.whole:
        how += ", streamed and all at once in turns"
    how += f"; {plan.warm_up} before to warm up, not counted" if plan.warm_up else "; no warm-up"
    made_at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    address = replace(target, path=target.path.partition("?")[0]).url
    return Setting(
        address, target.dialect.title, question.model, question.prompt, how, made_at, version("firstword")
    )


def _tell(measurement: Measurement, setting: Setting, as_json: bool) -> None:
    if not as_json:
        show(Console(), measurement, setting)
        return
    print(msgspec.json.encode(measurement.result).decode())
    for failure in measurement.failures:
        print(f"firstword: {failure.error}", file=sys.stderr)


def _write(file: Path, page: str) -> None:
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror}") from None


def _exit_code(measurement: Measurement) -> int:
    """A server that was never reached is told from one whose replies failed, or were no HTTP."""
    unreached = (failure.end == "failed" and failure.head is None for failure in measurement.failures)
    lost = not measurement.good and all(unreached)
    return CANNOT_CONNECT if lost else FAILED
