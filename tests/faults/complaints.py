"""Complaints: what a server writes to its logs while it is attacked. None is the only right amount."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

#: Where an exception that nobody caught would be told: uvicorn's own logger does not reach the root.
_LOGGERS = ("", "uvicorn", "uvicorn.error", "asyncio")


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()}")


@contextmanager
def complaints() -> Iterator[list[str]]:
    """The warnings and errors written within, as they come."""
    listener = _Listener()
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(listener)
    try:
        yield listener.lines
    finally:
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(listener)
