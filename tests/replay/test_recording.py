"""The file: what is written is read back, and what is spoilt is refused in one clear line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import BadRequest
from app.events import Error, Ping
from app.replay.recording import (
    MAX_BYTES,
    Lane,
    LaneArrival,
    load_recording,
    read_recording,
    recording_bytes,
    sha256_of,
)
from tests.replay.samples import as_json, events_of, sample

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def pieces(draw: st.DrawFn) -> list[tuple[str, int, float]]:
    times = sorted(draw(st.lists(st.floats(20, 60_000), max_size=12)))
    return [(draw(texts), draw(st.integers(0, 4)), round(t, 3)) for t in times]


@given(pieces())
def test_what_is_written_is_read_back(made: list[tuple[str, int, float]]) -> None:
    recording = sample(made)
    assert read_recording(recording_bytes(recording)) == recording
    assert recording.reply.text == "".join(text for text, _, _ in made)


def test_lanes_of_a_page_are_kept() -> None:
    content = as_json(sample())
    assert "lanes" not in content
    content["lanes"] = [
        {
            "label": "Streamed",
            "settings": {"wire": "sse", "pace": "token", "link": {"latency_ms": 100}},
            "events": [{"at_ms": 4, "type": "queued", "reply": "r", "position": 0, "t": 0.5}],
            "arrivals": [{"at_ms": 104.25, "seq": 1, "text": "Hello", "tokens": 1, "words": 1}],
            "first_paint_ms": 120,
            "last_paint_ms": None,
            "ended_ms": 1700.5,
        }
    ]
    (lane,) = read_recording(json.dumps(content).encode()).lanes
    assert isinstance(lane, Lane) and lane.arrivals == [LaneArrival(104.25, 1, "Hello", 1, 1)]
    assert lane.first_paint_ms == 120.0 and lane.last_paint_ms is None
    read_again = read_recording(recording_bytes(read_recording(json.dumps(content).encode())))
    assert read_again.lanes == [lane]


def test_a_later_programs_fields_are_let_be() -> None:
    content = as_json(sample())
    content["mood"] = "good"
    content["reply"]["events"][2]["colour"] = "blue"
    assert read_recording(json.dumps(content).encode()) == sample()


def test_a_reader_who_came_back_and_merged_pieces_make_a_recording_too() -> None:
    events = events_of()
    resumed = sample(events=[*events[:4], events[1], *events[4:]])
    assert resumed.reply.text == sample().reply.text
    content = as_json(sample())
    content["reply"]["events"].pop(3)
    content["reply"]["text"] = "Hello world! 🫖"
    content["reply"]["sha256"] = sha256_of("Hello world! 🫖")
    assert read_recording(json.dumps(content).encode()).reply.deltas[1].seq == 3


def test_pings_are_left_out_and_what_did_not_end_well_is_no_recording() -> None:
    events = events_of()
    assert sample() == sample(events=[events[0], Ping(5.0), *events[1:]])
    for bad in ([], events[:-1], [*events[:-1], Error("engine_error", "no", False)]):
        with pytest.raises(BadRequest, match="over and did not fail"):
            sample(events=bad)


Spoil = Callable[[dict[str, Any]], object]


def put(path: str, value: Any) -> Spoil:
    """Set one place of the content, like ``reply.events.2.t``."""

    def spoil(content: dict[str, Any]) -> None:
        *way, last = [int(name) if name.isdigit() else name for name in path.split(".")]
        place: Any = content
        for name in way:
            place = place[name]
        place[last] = value

    return spoil


SPOILT: list[tuple[str, Spoil, str]] = [
    ("not ours", put("format", "har"), 'format is not "firstword-recording"'),
    ("of the future", put("version", 2), "version is 2; this Firstword reads version 1 only"),
    ("without a version", lambda c: c.pop("version"), "version is None"),
    ("without a reply", lambda c: c.pop("reply"), "reply is missing"),
    ("without a text", lambda c: c["reply"].pop("text"), "reply.text is missing"),
    ("an id that is a path", put("id", "../etc"), "id must"),
    ("a title too long", put("title", "x" * 201), "title must"),
    ("a date of its own", put("made_at", "yesterday"), "made_at must"),
    ("a stranger's role", put("prompt.messages.0.role", "root"), "role"),
    ("no messages", put("prompt.messages", []), "prompt.messages must"),
    ("memory in words", put("hardware.memory_gb", "much"), "hardware.memory_gb must be float, got str"),
    ("negative cores", put("hardware.cores", -1), "hardware.cores must"),
    ("another text", put("reply.text", "Hello!"), "reply.text is not the text that reply.events bring"),
    ("another hash", put("reply.sha256", sha256_of("x")), "reply.sha256 is not the hash"),
    ("no hash at all", put("reply.sha256", "0"), "reply.sha256 must"),
    ("no events", put("reply.events", []), "reply.events must"),
    ("an event of no kind", put("reply.events.2.type", "laugh"), "reply.events"),
    ("without an end", lambda c: c["reply"]["events"].pop(), "must be the one done and the last"),
    ("two ends", lambda c: c["reply"]["events"].insert(2, c["reply"]["events"][-1]), "the one done"),
    ("time that runs back", put("reply.events.3.t", 50.0), r"reply.events\[3\].t must be 100 to"),
    ("time before the start", put("reply.events.0.t", -1), r"reply.events\[0\].t must be 0 to"),
    ("an hour too long", put("reply.events.6.t", 4e6), r"reply.events\[6\].t must be"),
    ("a delta twice", put("reply.events.3.seq", 1), r"reply.events\[3\].seq must be above 1"),
    ("negative tokens", put("reply.events.2.tokens", -1), r"reply.events\[2\]"),
    ("a lane's times in words", put("lanes", [{"label": "a", "settings": {}, "ended_ms": "late"}]), "lanes"),
    ("seventeen lanes", put("lanes", [{"label": "a", "settings": {}}] * 17), "lanes must"),
]


@pytest.mark.parametrize(("spoil", "says"), [s[1:] for s in SPOILT], ids=[s[0] for s in SPOILT])
def test_a_spoilt_file_is_refused_in_one_line_that_names_the_field(spoil: Spoil, says: str) -> None:
    content = as_json(sample())
    spoil(content)
    with pytest.raises(BadRequest, match=says) as error:
        read_recording(json.dumps(content).encode())
    assert "\n" not in error.value.message and len(error.value.message) < 300


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"\x89PNG\r\n", "not JSON"),
        (b"[1, 2]", "the recording must be"),
        (b"[" * 100_000, "not JSON|must be"),
        (recording_bytes(sample())[:-40], "not JSON"),
        (b" " * (MAX_BYTES + 1), f"the limit is {MAX_BYTES}"),
    ],
    ids=["empty", "a picture", "a list", "a deep one", "cut off", "too large"],
)
def test_what_is_no_recording_is_refused_in_one_line(data: bytes, says: str) -> None:
    with pytest.raises(BadRequest, match=says) as error:
        read_recording(data)
    assert "\n" not in error.value.message


def test_half_a_character_is_refused() -> None:
    data = recording_bytes(sample()).replace(b'"Hello', b'"\\ud800ello')
    with pytest.raises(BadRequest, match="surrogate|not JSON"):
        read_recording(data)


@given(st.integers(0, 3000), st.binary(min_size=1, max_size=3))
def test_no_damage_to_a_file_gives_anything_but_a_recording_or_a_refusal(at: int, junk: bytes) -> None:
    data = recording_bytes(sample())
    spoilt = data[: at % len(data)] + junk + data[at % len(data) + len(junk) :]
    try:
        read_recording(spoilt)
    except BadRequest as error:
        assert error.message


def test_a_file_is_read_and_never_further_than_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(recording_bytes(sample()))
    assert load_recording(file) == sample()
    file.write_bytes(b" " * (2 * MAX_BYTES))
    with pytest.raises(BadRequest, match=f"has {MAX_BYTES + 1} bytes"):
        load_recording(file)
