import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.events import Delta, Done, Error, Queued, Timings, Usage
from app.transports import framing
from app.transports.framing import JSON, NDJSON, PLAIN, SSE, NdjsonFrames, PlainFrames, SseFrames

QUEUED = Queued("r", 0, 0.1, "a")
DELTA = Delta("r", 3, "né\n", 2, 12.5)
DONE = Done("r", 3, "stop", Usage(1, 2, 3, 0), Timings(1.0, 2.0, 3.0, None, 0.0, 9.0), 9.0)
ERROR = Error("engine_lost", "gone", True, "r")


def test_sse_frames_are_exactly_these():
    frames = SseFrames()
    assert frames.on(QUEUED) == b'data: {"type":"queued","reply":"r","position":0,"t":0.1,"id":"a"}\n\n'
    assert frames.on(DELTA) == (
        'id: 3\ndata: {"type":"delta","reply":"r","seq":3,"text":"né\\n","tokens":2,"t":12.5}\n\n'.encode()
    )
    assert frames.on(ERROR) == (
        b'id: 3.end\ndata: {"type":"error","code":"engine_lost",'
        b'"message":"gone","retryable":true,"reply":"r"}\n\n'
    )


def test_the_end_of_a_resumed_reply_without_news_has_the_place_resumed_from():
    assert SseFrames(after=7).on(ERROR).startswith(b"id: 7.end\n")
    assert SseFrames().on(DONE).startswith(b"id: 0.end\n")


def test_ndjson_is_one_event_a_line():
    assert NdjsonFrames().on(QUEUED) == b'{"type":"queued","reply":"r","position":0,"t":0.1,"id":"a"}\n'


def test_plain_text_is_the_text_alone():
    frames = PlainFrames()
    assert [frames.on(e) for e in (QUEUED, DELTA, DONE, ERROR)] == [b"", "né\n".encode(), b"", b""]


@given(st.text())
def test_json_is_one_line_for_every_way_of_counting_lines(text):
    data = framing.json_bytes(msgspec.structs.replace(DELTA, text=text))
    assert len(data.decode().splitlines()) == 1
    assert json.loads(data)["text"] == text


@given(st.lists(st.text()))
def test_sse_read_back_by_the_standards_rules_is_what_was_sent(texts):
    frames = SseFrames()
    deltas = [Delta("r", n, text, 1, 0.0) for n, text in enumerate(texts, 1)]
    stream = b"".join(map(frames.on, deltas)).decode()
    blocks = stream.split("\n\n")
    assert blocks.pop() == ""
    read = [json.loads(block.split("data: ", 1)[1]) for block in blocks]
    assert [(event["seq"], event["text"]) for event in read] == [(d.seq, d.text) for d in deltas]


@pytest.mark.parametrize(
    ("value", "place"),
    [("0", (0, False)), ("12", (12, False)), ("12.end", (12, True)), ("", None), ("x", None), ("1.5", None),
     ("-1", None), ("1\n", None), ("9" * 13, None), ("1.end ", None)],
)  # fmt: skip
def test_only_our_own_event_ids_are_places(value, place):
    assert framing.parse_last_event_id(value) == place


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("text/event-stream", SSE),
        ("TEXT/Event-Stream; charset=utf-8", SSE),
        ("application/json;q=0.5, text/plain", PLAIN),
        ("text/plain;q=0.2, application/x-ndjson;q=0.9", NDJSON),
        ("text/plain;q=0", JSON),
        ("image/png", JSON),
        ("text/html,application/xhtml+xml,*/*;q=0.8", JSON),
        (";;,,q=x", JSON),
    ],
)
def test_accept_chooses_the_wire(accept, chosen):
    assert framing.choose(accept, (JSON, SSE, NDJSON, PLAIN)) == chosen


def test_only_streamed_types_have_frames():
    with pytest.raises(ValueError, match="not streamed"):
        framing.frames(JSON)
