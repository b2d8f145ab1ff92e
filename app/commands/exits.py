"""How a command ends: its exit code and, when something went wrong, one clear line on stderr.

The codes are the same for every command, so that scripts can tell apart what they have to do next;
0 is a good end. It refuses to know what any command does.
"""

from __future__ import annotations

import sys
from types import TracebackType

from app.errors import StartupError

#: A reply failed, a file is no good, a server cannot start, or there are findings.
FAILED = 1
#: Wrong options; Typer's own errors use it as well.
USAGE = 2
CANNOT_CONNECT = 3


class CommandError(Exception):
    """Ends the command with ``code`` and the message as one line."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


class one_line_errors:
    """A context that turns errors which a person can act on into one line and an exit code."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, StartupError | CommandError):
            print(f"firstword: {error}", file=sys.stderr)
            raise SystemExit(error.code if isinstance(error, CommandError) else FAILED) from None
