"""Our events as Anthropic's: golden bytes, and what may come when."""

import pytest

from app.errors import FirstwordError, NotFound, Overloaded, PromptTooLong, SlowConsumer, Unauthorized
from app.events import Delta, Done, Queued, Started, Timings, Usage
from app.generation import FinishReason
from app.transports.anthropic_answers import MessageStream, message_answer, stop_reason
from app.transports.anthropic_errors import error_body, error_status
from app.transports.outcome import outcome

TIMINGS = Timings(0.0, 1.0, 1.0, 1.0, 0.0, 2.0)


def done(reason: FinishReason = "stop", stop: str | None = None) -> Done:
    return Done("r", 2, reason, Usage(3, 2, 5, 0), TIMINGS, 2.0, stop)


def test_the_frames_of_a_message_are_these_bytes() -> None:
    stream = MessageStream("msg_1", "m", "req_1")
    assert stream.on(0, Queued("r", 0, 0.0)) == b""
    assert stream.on(0, Started("r", "m", 3, 0, 0.1)) == (
        b"event: message_start\n"
        b'data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",'
        b'"model":"m","content":[],"stop_reason":null,"stop_sequence":null,'
        b'"usage":{"input_tokens":3,"output_tokens":0}}}\n\n'
        b"event: content_block_start\n"
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
        b'event: ping\ndata: {"type":"ping"}\n\n'
    )
    assert stream.on(0, Delta("r", 1, "Hi", 1, 1.0)) == (
        b"event: content_block_delta\n"
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n'
    )
    assert not stream.over
    assert stream.on(0, done()) == (
        b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
        b"event: message_delta\n"
        b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},'
        b'"usage":{"input_tokens":3,"output_tokens":2}}\n\n'
        b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    )
    assert stream.over


def test_nothing_with_a_type_comes_before_message_start() -> None:
    stream = MessageStream("msg_1", "m", "req_1")
    assert stream.ping().startswith(b":")
    stream.on(0, Started("r", "m", 3, 0, 0.1))
    assert stream.ping() == b'event: ping\ndata: {"type":"ping"}\n\n'


def test_a_delta_without_text_is_no_event() -> None:
    stream = MessageStream("msg_1", "m", "req_1")
    assert stream.on(0, Delta("r", 1, "", 1, 1.0)) == b""


def test_a_failure_is_an_error_event_and_no_message_stop() -> None:
    stream = MessageStream("msg_1", "m", "req_1")
    stream.on(0, Started("r", "m", 3, 0, 0.1))
    assert stream.failed(FirstwordError("odd")) == (
        b'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"odd"},'
        b'"request_id":"req_1"}\n\n'
    )
    assert stream.over


@pytest.mark.parametrize(
    ("end", "reason"),
    [(done(), "end_turn"), (done(stop="\n"), "stop_sequence"), (done("length"), "max_tokens")],
)
def test_why_a_text_ended_in_anthropics_words(end: Done, reason: str) -> None:
    assert stop_reason(end) == reason


def test_the_whole_message_has_the_documented_shape() -> None:
    told = outcome([Started("r", "m", 3, 0, 0.1), Delta("r", 1, "Hi", 1, 1.0), done(stop="END")])
    assert message_answer("msg_1", "m", told) == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "stop_sequence",
        "stop_sequence": "END",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (PromptTooLong("long"), 400, "invalid_request_error"),
        (Unauthorized("who"), 401, "authentication_error"),
        (NotFound("no"), 404, "not_found_error"),
        (Overloaded("full"), 529, "overloaded_error"),
        (SlowConsumer("slow"), 408, "api_error"),
        (FirstwordError("odd"), 500, "api_error"),
    ],
)
def test_errors_have_anthropics_statuses_and_types(error: FirstwordError, status: int, kind: str) -> None:
    assert error_status(error) == status
    assert error_body(error, "req_1") == {
        "type": "error",
        "error": {"type": kind, "message": error.message},
        "request_id": "req_1",
    }
