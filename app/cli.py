"""The command line: `firstword serve` and its companions, registered here and nothing else.

Each command is a function in a module of its own under `app.commands`. This one refuses to know
what any of them does.

Exit codes of all commands: 0 well, 1 failed (a reply, a file, findings), 2 wrong usage, 3 cannot
connect.
"""

from __future__ import annotations

import io
import sys

import typer

from app.commands.doctor import doctor
from app.commands.measure import measure
from app.commands.models import models
from app.commands.record import record
from app.commands.replay import replay
from app.commands.serve import serve

app = typer.Typer(
    name="firstword",
    help="Feel the first word: chat with a local language model, streamed or all at once.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def about() -> None:
    """Feel the first word: chat with a local language model, streamed or all at once."""


app.command()(serve)
app.command()(record)
app.command()(replay)
app.command()(measure)
app.command()(doctor)
app.command()(models)


def main() -> None:
    """Entry point of the console script."""
    # A terminal that lacks a letter of the answer shows a question mark; the answer is not lost for it.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()
