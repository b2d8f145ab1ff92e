"""Who waits for the engine's process: the sinks of sequences, questions for a length, watchers.

Everything that the child tells is handed to whom it concerns, and when the child is gone all of
them are told so. It refuses to know the child, the pipe and why it broke.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from app.engine.messages import Counted
from app.errors import BadRequest, FirstwordError, Overloaded, from_code
from app.generation import Ended, Failed, Output, Sink, StepRecord

log = logging.getLogger(__name__)

#: Questions for a prompt's length that may be open at once.
MAX_COUNTS = 256


class Awaiting:
    """Sequences by id, open questions by number, watchers of steps."""

    def __init__(self) -> None:
        self._sinks: dict[str, Sink] = {}
        self._counts: dict[int, asyncio.Future[int]] = {}
        self._last_number = 0
        self.watchers: list[Callable[[StepRecord], None]] = []

    def __contains__(self, id: str) -> bool:
        return id in self._sinks

    def refuse_twice(self, id: str) -> None:
        """Raises BadRequest when a sequence of this id is running."""
        if id in self._sinks:
            raise BadRequest(f"the sequence {id!r} is already running", param="id")

    def add(self, id: str, sink: Sink) -> None:
        self._sinks[id] = sink

    def give(self, output: Output) -> bool:
        """Hand an output to its sequence's sink, the last one forgetting it; others are let be.

        Returns False when the sink failed: its sequence is forgotten and should be cancelled.
        """
        sink = self._sinks.get(output.id)
        if sink is None:
            return True
        if isinstance(output, Ended | Failed):
            del self._sinks[output.id]
        try:
            sink(output)
        except Exception:
            # The border of one generation: its reader's mistake must not reach its neighbours.
            log.exception("the sink of a sequence failed")
            self._sinks.pop(output.id, None)
            return False
        return True

    def ask(self) -> tuple[int, asyncio.Future[int]]:
        """A new question's number and its answer. Raises Overloaded when too many are open."""
        if len(self._counts) >= MAX_COUNTS:
            raise Overloaded(f"more than {MAX_COUNTS} prompts are being counted")
        self._last_number += 1
        number, answer = self._last_number, asyncio.get_running_loop().create_future()
        self._counts[number] = answer
        answer.add_done_callback(lambda _: self._counts.pop(number))
        return number, answer

    def settle(self, counted: Counted) -> None:
        """Answer a question; one that nobody asks any more is let be."""
        answer = self._counts.get(counted.number)
        if answer is None or answer.done():
            return
        if counted.tokens is not None:
            answer.set_result(counted.tokens)
        else:
            answer.set_exception(from_code(counted.code, counted.message, counted.param))

    def watch(self, record: StepRecord) -> None:
        for watcher in list(self.watchers):
            watcher(record)

    def fail(self, error: FirstwordError, at_ns: int) -> None:
        """Tell every sequence and every question that there will be no more."""
        for id in list(self._sinks):
            self.give(Failed(id, error.code, error.message, at_ns))
        for answer in list(self._counts.values()):
            if not answer.done():
                answer.set_exception(type(error)(error.message))
