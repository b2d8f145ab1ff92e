"""What became of a reply: its text, or the error it ended by."""

import pytest

from app.errors import EngineFailed, EngineLost
from app.events import AnyEvent, Delta, Done, Error, Queued, Started, Timings, Usage
from app.generation import FinishReason, TokenInfo
from app.transports.outcome import failure, outcome


def done(reason: FinishReason) -> Done:
    return Done("r", 2, reason, Usage(3, 2, 5, 0), Timings(0.0, 1.0, 1.0, 1.0, 0.0, 2.0), 2.0)


def test_the_text_and_tokens_of_all_deltas_are_joined() -> None:
    info = [TokenInfo(1, b"a", -1.0)]
    end = done("stop")
    told = outcome(
        [Started("r", "m", 3, 0, 0.1), Delta("r", 1, "a", 1, 1.0, info), Delta("r", 2, "b", 1, 1.0), end]
    )
    assert (told.text, told.info, told.done) == ("ab", info, end)


def test_an_error_and_being_stopped_are_failures() -> None:
    assert isinstance(failure(Error("engine_lost", "gone", True, "r")), EngineLost)
    assert isinstance(failure(done("cancelled")), EngineFailed)


@pytest.mark.parametrize(
    "event", [Queued("r", 0, 0.0), Delta("r", 1, "a", 1, 1.0), done("stop"), done("length")]
)
def test_everything_else_is_none(event: AnyEvent) -> None:
    assert failure(event) is None
