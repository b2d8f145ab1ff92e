"""The SSE parser: every framing, every split, every limit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.upstream.sse_parser import EventTooLarge, SseEvent, SseParser


def parse(*chunks: bytes) -> list[SseEvent]:
    parser = SseParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


STREAM = (
    "\ufeff: hello\n"
    "data: नमस्ते 👩‍👩‍👧\n\n"
    "event: note\n: between\ndata: one\ndata:two\nid: 7\n\n"
    "data\n\n"
    "retry: 250\nunknown: x\ndata: {\"a\": 1}\n\n"
    "event: without data\n\n"
    "data: last\n\n"
    "data: cut off"
)  # fmt: skip
EVENTS = [
    SseEvent("नमस्ते 👩‍👩‍👧"),
    SseEvent("one\ntwo", "note"),
    SseEvent(""),
    SseEvent('{"a": 1}'),
    SseEvent("last"),
]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_framing_at_every_split_gives_the_same_events(line_end: str) -> None:
    raw = STREAM.replace("\n", line_end).encode()
    assert parse(raw) == EVENTS
    assert parse(*(raw[i : i + 1] for i in range(len(raw)))) == EVENTS
    for cut in range(len(raw) + 1):
        assert parse(raw[:cut], b"", raw[cut:]) == EVENTS


def test_line_ends_may_be_mixed() -> None:
    assert parse(b"data: a\r\ndata: b\rdata: c\n\r\n") == [SseEvent("a\nb\nc")]


def test_only_one_leading_bom_is_dropped() -> None:
    assert parse(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == [SseEvent("a")]


def test_one_leading_space_of_a_value_is_dropped_and_no_more() -> None:
    assert parse(b"data:  a\n\n") == [SseEvent(" a")]


def test_bytes_that_are_no_utf8_become_replacement_characters_of_that_line_only() -> None:
    assert parse(b"data: \xff\n\ndata: ok\n\n") == [SseEvent("\ufffd"), SseEvent("ok")]


def test_an_event_up_to_the_limit_is_read_and_one_byte_more_is_refused() -> None:
    assert [e.data for e in SseParser(10).feed(b"data: 1234\n\n")] == ["1234"]
    with pytest.raises(EventTooLarge, match="larger than 10 bytes"):
        list(SseParser(10).feed(b"data: 12345\n\n"))


def test_the_limit_counts_all_data_lines_of_an_event_and_a_line_that_never_ends() -> None:
    with pytest.raises(EventTooLarge):
        list(SseParser(20).feed(b"data: 1234\ndata: 1234\ndata: 1234\n"))
    parser = SseParser(20)
    with pytest.raises(EventTooLarge):
        for _ in range(21):
            list(parser.feed(b":"))


def test_events_before_the_too_large_one_are_still_delivered() -> None:
    events = SseParser(10).feed(b"data: ok\n\ndata: much too large\n\n")
    assert next(events).data == "ok"
    with pytest.raises(EventTooLarge):
        next(events)


lines = st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=8)


@given(
    st.lists(st.lists(lines, min_size=1, max_size=3), max_size=5),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_any_texts_in_any_cuts_come_out_as_they_went_in(
    texts: list[list[str]], line_end: str, data: st.DataObject
) -> None:
    raw = "".join(
        "".join(f"data: {line}{line_end}" for line in text) + f": {line_end}" + line_end for text in texts
    ).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    borders = [0, *cuts, len(raw)]
    chunks = [raw[a:b] for a, b in zip(borders, borders[1:], strict=False)]
    assert [e.data for e in parse(*chunks)] == ["\n".join(text) for text in texts]


@given(st.binary(max_size=200), st.integers(0, 200))
def test_no_bytes_crash_it_and_no_split_changes_its_answer(raw: bytes, cut: int) -> None:
    assert parse(raw) == parse(raw[:cut], raw[cut:])
