"""Framings and dialects: every split gives the same text."""

import json
from collections.abc import Callable

import pytest

from app.client.dialects.dialect import Dialect
from app.client.dialects.known import DIALECTS
from app.client.exchange import Usage
from app.client.hearing import Hearing, WholeFraming


def lines(*events: dict[str, object]) -> bytes:
    return b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in events)


def sse(*events: dict[str, object] | str) -> bytes:
    return b"".join(
        b"data: "
        + (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)).encode()
        + b"\n\n"
        for event in events
    )


DONE = {
    "type": "done",
    "seq": 2,
    "finish_reason": "stop",
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}
OWN: tuple[dict[str, object], ...] = (
    {"type": "started", "prompt_tokens": 3},
    {"type": "ping", "t": 1.0},
    {"type": "delta", "seq": 1, "text": "नम", "tokens": 1, "t": 5.0},
    {"type": "delta", "seq": 2, "text": "🫖!", "tokens": 1, "t": 6.0},
    DONE,
)
CHAT = sse(
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {"content": "नम"}}]},
    {"choices": [{"index": 0, "delta": {"content": "🫖!"}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    "[DONE]",
)
TEXT = sse(
    {"choices": [{"index": 0, "text": "नम", "finish_reason": None}]},
    {"choices": [{"index": 0, "text": "🫖!", "finish_reason": None}]},
    {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    "[DONE]",
)
MESSAGE = sse(
    {"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "नम"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "🫖!"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "stop"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
)
STREAMS = [
    ("ndjson", lines(*OWN)),
    ("sse", sse(*OWN)),
    ("openai", CHAT),
    ("openai-text", TEXT),
    ("anthropic", MESSAGE),
]


def heard(dialect: Dialect, *parts: bytes) -> Hearing:
    hearing = Hearing()
    framing = dialect.framing(hearing, dialect.hear)
    for at_ns, part in enumerate(parts):
        framing.feed(at_ns, part)
    framing.close(len(parts))
    return hearing


@pytest.mark.parametrize(("name", "data"), STREAMS, ids=[name for name, _ in STREAMS])
def test_every_split_gives_the_same_reply(name: str, data: bytes) -> None:
    for cut in range(1, len(data)):
        hearing = heard(DIALECTS[name], data[:cut], data[cut:])
        assert [delta.text for delta in hearing.deltas] == ["नम", "🫖!"]
        assert (hearing.finish_reason, hearing.usage, hearing.error) == ("stop", Usage(3, 2), None)
        assert hearing.over


def test_plain_text_waits_for_whole_characters() -> None:
    data = "नम🫖!".encode()
    for cut in range(1, len(data)):
        hearing = heard(DIALECTS["plain"], data[:cut], data[cut:])
        assert "".join(delta.text for delta in hearing.deltas) == "नम🫖!"


def test_a_piece_has_the_stamp_of_the_read_that_completed_it() -> None:
    data = lines(*OWN[:3])
    hearing = heard(DIALECTS["ndjson"], data[:-4], data[-4:])
    assert hearing.deltas[0].at_ns == 1
    assert (hearing.deltas[0].tokens, hearing.deltas[0].t_ms) == (1, 5.0)


WHOLE: list[tuple[str, dict[str, object]]] = [
    (
        "ndjson",
        {"text": "hi", "finish_reason": "stop", "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    ),
    (
        "openai",
        {
            "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        },
    ),
    (
        "openai-text",
        {
            "choices": [{"text": "hi", "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        },
    ),
    (
        "anthropic",
        {
            "content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}],
            "stop_reason": "stop",
            "usage": {"input_tokens": 3, "output_tokens": 2},
        },
    ),
]


@pytest.mark.parametrize(("name", "body"), WHOLE, ids=[name for name, _ in WHOLE])
def test_a_whole_answer_is_one_piece_at_its_end(name: str, body: dict[str, object]) -> None:
    hearing = Hearing()
    framing = WholeFraming(hearing, DIALECTS[name].hear_whole)
    data = json.dumps(body).encode()
    framing.feed(1, data[:5])
    framing.feed(2, data[5:])
    framing.close(3)
    assert [(delta.text, delta.tokens, delta.at_ns) for delta in hearing.deltas] == [("hi", 2, 3)]
    assert (hearing.finish_reason, hearing.usage) == ("stop", Usage(3, 2))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("ndjson", lines({"type": "error", "code": "x", "message": "no memory"}), "no memory"),
        ("openai", sse({"error": {"message": "no memory"}}), "no memory"),
        ("openai", sse({"error": "no memory"}), "no memory"),
        ("openai", sse("not json"), "not a JSON object"),
        ("openai", sse("[1]"), "not a JSON object"),
        ("anthropic", sse({"type": "error", "error": {"type": "x", "message": "no memory"}}), "no memory"),
    ],
)
def test_an_error_in_the_stream_is_the_replys_error(name: str, data: bytes, message: str) -> None:
    assert message in str(heard(DIALECTS[name], data).error)


@pytest.mark.parametrize("name", ["openai", "anthropic", "ndjson"])
@pytest.mark.parametrize(
    "value", ['{"choices": 3}', '{"choices": [null]}', '{"usage": 4}', "{}", '{"delta": []}']
)
def test_nonsense_of_the_right_form_is_survived(name: str, value: str) -> None:
    make: Callable[[str], bytes] = (lambda v: v.encode() + b"\n") if name == "ndjson" else sse
    assert heard(DIALECTS[name], make(value)).deltas == []


def test_an_endless_line_is_given_up() -> None:
    hearing = heard(DIALECTS["ndjson"], b"x" * 1_100_000)
    assert hearing.error is not None
    assert "longer than" in hearing.error
