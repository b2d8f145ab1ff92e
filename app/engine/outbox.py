"""What is told about each sequence, in the order of app.generation, handed over in one go.

Turns what happened into outputs, stamps them and remembers what was told before, so that nothing
is told twice. This module refuses to decide what happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from app.engine.sequence import Sequence
from app.errors import FirstwordError
from app.generation import Begun, Ended, Failed, Output, Paused, Piece, Resumed, Waiting


class Outbox:
    """Outputs since the last ``hand_over``."""

    def __init__(self, emit: Callable[[list[Output]], None]) -> None:
        self._emit = emit
        self._outputs: list[Output] = []

    def hand_over(self) -> None:
        """Give everything to ``emit`` in one call; none if there is nothing."""
        if self._outputs:
            outputs, self._outputs = self._outputs, []
            self._emit(outputs)

    def positions(self, line: Iterable[Sequence], now_ns: int) -> None:
        """Tell each newcomer in line its place, if that is news."""
        for position, sequence in enumerate(s for s in line if s.begun_ns is None):
            if position != sequence.told_position:
                sequence.told_position = position
                self._outputs.append(Waiting(sequence.id, position, now_ns))

    def begun(self, sequence: Sequence, now_ns: int) -> None:
        """Its prefill starts now. Who never stood in line hears that it was next."""
        if sequence.told_position is None:
            self._outputs.append(Waiting(sequence.id, 0, now_ns))
        sequence.begun_ns = now_ns
        self._outputs.append(Begun(sequence.id, sequence.num_prompt, sequence.cached_tokens, now_ns))

    def paused(self, sequence: Sequence, now_ns: int) -> None:
        """It left the batch; its time out of it runs from now."""
        sequence.paused_since_ns = now_ns
        self._outputs.append(Paused(sequence.id, now_ns, sequence.num_made))

    def resumed(self, sequence: Sequence, now_ns: int) -> None:
        """It is back in the batch."""
        _count_pause(sequence, now_ns)
        self._outputs.append(Resumed(sequence.id, now_ns))

    def text(self, sequence: Sequence, now_ns: int) -> None:
        """Tell new text, if there is any to show."""
        if told := sequence.transcript.piece():
            text, num_tokens, info = told
            self._outputs.append(Piece(sequence.id, text, num_tokens, sequence.last_token_ns or now_ns, info))

    def ended(self, sequence: Sequence, now_ns: int) -> None:
        """Tell the end that its transcript came to."""
        transcript = sequence.transcript
        assert transcript.finish is not None
        _count_pause(sequence, now_ns)
        self._outputs.append(
            Ended(
                sequence.id,
                transcript.finish,
                sequence.num_prompt,
                transcript.num_tokens,
                now_ns,
                cached_tokens=sequence.cached_tokens,
                begun_ns=sequence.begun_ns,
                first_token_ns=sequence.first_token_ns,
                last_token_ns=sequence.last_token_ns,
                paused_ns=sequence.paused_ns,
                stop=transcript.matched_stop,
            )
        )

    def failed(self, id: str, error: FirstwordError, now_ns: int) -> None:
        """Tell that the prompt came to nothing, or to nothing more."""
        self._outputs.append(Failed(id, error.code, error.message, now_ns, error.param))


# Private


def _count_pause(sequence: Sequence, now_ns: int) -> None:
    if sequence.paused_since_ns is not None:
        sequence.paused_ns += now_ns - sequence.paused_since_ns
        sequence.paused_since_ns = None
