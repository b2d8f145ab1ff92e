from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.frames import MAX_FRAME_BYTES, FrameDecoder, FrameTooLarge, PipeBroken, encode
from app.engine.messages import Command, Report, StopEngine, Submit
from app.prompt import Prompt
from tests.engine.every_message import COMMANDS, REPORTS


def test_every_command_and_report_crosses_unchanged_at_every_split():
    for kind, messages in ((Command, COMMANDS), (Report, REPORTS)):
        wire = b"".join(encode(message) for message in messages)
        for at in range(len(wire) + 1):
            decoder: FrameDecoder[object] = FrameDecoder(kind)
            assert decoder.feed(wire[:at]) + decoder.feed(wire[at:]) == messages


def test_bytes_may_come_one_at_a_time():
    decoder: FrameDecoder[Report] = FrameDecoder(Report)
    wire = b"".join(encode(report) for report in REPORTS)
    assert [m for at in range(len(wire)) for m in decoder.feed(wire[at : at + 1])] == REPORTS


@given(st.lists(st.integers(1, 400), max_size=12))
def test_any_way_of_cutting_gives_the_same_messages(sizes: list[int]):
    wire = b"".join(encode(report) for report in REPORTS)
    decoder: FrameDecoder[Report] = FrameDecoder(Report)
    seen: list[Report] = []
    for size in [*sizes, len(wire)]:
        seen += decoder.feed(wire[:size])
        wire = wire[size:]
    assert seen == REPORTS


def test_a_message_over_the_limit_is_not_sent_and_both_sizes_are_named():
    with pytest.raises(FrameTooLarge, match=rf"\d+ bytes is larger .*{MAX_FRAME_BYTES}"):
        encode(Submit(Prompt("a", text="x" * (MAX_FRAME_BYTES + 1))))


def test_a_length_over_the_limit_breaks_the_pipe_before_anything_is_buffered():
    with pytest.raises(PipeBroken, match="claims 4294967295 bytes"):
        FrameDecoder(Report).feed(b"\xff\xff\xff\xff")


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x81\xa4type\xa4beat", encode(StopEngine())[4:]])
def test_a_frame_that_holds_no_report_breaks_the_pipe(body: bytes):
    with pytest.raises(PipeBroken, match="holds no message"):
        FrameDecoder(Report).feed(len(body).to_bytes(4, "big") + body)


@given(st.binary(max_size=200))
def test_noise_never_raises_anything_else(noise: bytes):
    with contextlib.suppress(PipeBroken):
        FrameDecoder(Report).feed(noise)
