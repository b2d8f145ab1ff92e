"""The file: what is written is read back, and what is spoilt is refused in one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import BadRequest
from app.events import Error, Ping
from app.replay.recording import (
    MAX_BYTES,
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
