"""How a command ends: its exit code and, when something went wrong, one clear line on stderr.

The codes are the same for every command, so that scripts can tell apart what they have to do next;
0 is a good end. It refuses to know what any command does.
"""

from __future__ import annotations

import sys
from types import TracebackType

from app.client.exchange import CannotConnect
from app.client.target import NoAnswer, WrongUrl
from app.errors import StartupError

#: A reply failed, a file is no good, a server cannot start, or there are findings.
FAILED = 1
#: Wrong options; Typer's own errors use it as well.
USAGE = 2
CANNOT_CONNECT = 3

#: What each error that a person can act on ends with.
_CODES: dict[type[Exception], int] = {
    StartupError: FAILED,
    WrongUrl: USAGE,
    NoAnswer: FAILED,
    CannotConnect: CANNOT_CONNECT,
}


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
        if (code := _code_of(error)) is not None:
            print(f"firstword: {error}", file=sys.stderr)
            raise SystemExit(code) from None


# Private


def _code_of(error: BaseException | None) -> int | None:
    """None for a good end, and for what no person is to see as one line: a mistake of ours."""
    if isinstance(error, CommandError):
        return error.code
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), None)
