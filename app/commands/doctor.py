"""`firstword doctor URL`: does it really stream, and if not, who eats the stream?

It reads options, has the server examined and tells the diagnosis. What is looked at is the client's.

Exit codes: 0 no findings, 1 findings (or the server refused to answer), 2 wrong usage, 3 cannot connect.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from app.client.connection import Patience
from app.client.detection import settled
from app.client.dialects.dialect import Question
from app.client.doctor.diagnosis import diagnose
from app.client.doctor.examination import examine
from app.client.doctor.observations import Observations
from app.client.target import Target, read_target
from app.commands.doctor_text import show
from app.commands.exits import FAILED, CommandError, one_line_errors
from app.commands.server_options import (
    DialectOption,
    KeyEnvOption,
    ModelOption,
    UrlArgument,
    key_of,
    prompt_of,
)

#: Several scripts, so that characters cut in two show; long enough for a buffer of 4 KiB to fill twice.
_PROMPT = (
    "Greet me in Hindi, Chinese, Russian and English, each with an emoji, and then tell me a story of about "
    "a hundred words about a kettle."
)


def doctor(
    url: UrlArgument,
    prompt: Annotated[str, typer.Option(help="What is asked.", show_default=False)] = _PROMPT,
    max_tokens: Annotated[int, typer.Option(min=8, max=10_000, help="Length of the longest reply.")] = 128,
    model: ModelOption = "default",
    key_env: KeyEnvOption = None,
    dialect: DialectOption = None,
    patience_s: Annotated[float, typer.Option(min=0.1, max=3600, help="Silence that ends a reply.")] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help="The findings as JSON, for programs.")] = False,
) -> None:
    """Examine a server: does it stream, who buffers, is its contract kept, does a disconnect stop it?

    URL is a base or an endpoint of Firstword, of anything that speaks
    OpenAI's or Anthropic's API, or of plain chunked text. The server is asked
    four to nine short questions.

    Exit codes: 0 no findings, 1 findings, 2 wrong usage, 3 cannot connect.
    """
    with one_line_errors():
        question = Question(prompt_of(prompt), max_tokens, model, key=key_of(key_env))
        target, seen = asyncio.run(
            _examined(read_target(url, dialect), question, Patience(silence_s=patience_s), quiet=as_json)
        )
        head = seen.streamed.head
        if head is None or head.status not in (101, 200):
            raise CommandError(f"the server does not answer the question: {seen.streamed.error}", FAILED)
        diagnosis = diagnose(seen)
        if as_json:
            told = {"streams": diagnosis.streams, "findings": diagnosis.findings}
            print(msgspec.json.encode(told).decode())
            for note in diagnosis.notes:
                print(f"firstword: {note}", file=sys.stderr)
        else:
            show(Console(), target, seen, diagnosis)
        if diagnosis.findings:
            raise SystemExit(FAILED)


# Private


async def _examined(
    target: Target, question: Question, patience: Patience, *, quiet: bool
) -> tuple[Target, Observations]:
    target, question = await settled(target, question)
    console = Console(stderr=True, quiet=quiet)
    with console.status("asking") as status:
        seen = await examine(target, question, patience, lambda step: status.update(f"asking: {step}"))
    return target, seen
