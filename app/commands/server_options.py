"""What the commands that ask a server have in common: its URL, dialect, model and key.

It refuses to know what is asked.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from app.client.dialects.known import DIALECTS
from app.commands.exits import USAGE, CommandError

UrlArgument = Annotated[
    str, typer.Argument(metavar="URL", help="A server's base, or one endpoint of it.", show_default=False)
]
DialectOption = Annotated[
    str | None, typer.Option(help=f"{', '.join(DIALECTS)}; found out when not named.", show_default=False)
]
ModelOption = Annotated[str, typer.Option(help="The model's name; default: the first one listed.")]
KeyEnvOption = Annotated[
    str | None, typer.Option(help="Name of the environment variable that holds the key.", show_default=False)
]


def key_of(name: str | None) -> str:
    """The key in the environment variable ``name``. Raises CommandError when there is none."""
    if name is None:
        return ""
    key = os.environ.get(name, "")
    if not key:
        raise CommandError(f"--key-env {name}: no such environment variable, or it is empty", USAGE)
    if not key.isascii() or not key.isprintable():
        raise CommandError(f"--key-env {name}: its value cannot be a header", USAGE)
    return key


def prompt_of(text: str) -> str:
    """The prompt as it can be sent. Raises CommandError for bytes that are no UTF-8."""
    if not text.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in text):
        raise CommandError("--prompt: it is not valid UTF-8", USAGE)
    return text


def file_to_write(path: Path) -> Path:
    """A place where a file can be put, known before anybody is asked. Raises CommandError."""
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name the file to be written in it")
    if not path.absolute().parent.is_dir():
        raise CommandError(f"{path.parent} is no folder that a file could be put into")
    return path
