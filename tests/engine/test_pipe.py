from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.pipe import (
    MAX_FRAME_BYTES,
    AsyncEnd,
    Beat,
    CancelSequence,
    Command,
    Configure,
    Counted,
    CountTokens,
    FrameDecoder,
    FrameTooLarge,
    GrantTokens,
    LoadFailed,
    Loading,
    Outputs,
    PipeBroken,
    Ready,
    Report,
    StepDone,
    StopEngine,
    Submit,
    ThreadEnd,
    WatchSteps,
    encode,
)
from app.generation import (
    Begun,
    Ended,
    Failed,
    ModelInfo,
    Paused,
    Piece,
    Resumed,
    StepRecord,
    TokenInfo,
    Waiting,
)
from app.prompt import Message, Prompt, Sampling
from app.settings import Settings

PROMPT = Prompt(
    "a",
    messages=(Message("user", "नमस्ते 🫖"),),
    sampling=Sampling(logit_bias={7: 1.5}, seed=2**63 - 1),
    stop=("\n",),
)

COMMANDS: list[Command] = [
    Configure(Settings(threads=2, stall_s=3), "module:function"),
    Submit(PROMPT),
    CancelSequence("a"),
    GrantTokens("a", 64),
    CountTokens(3, Prompt("b", text="raw")),
    WatchSteps(True),
    StopEngine(),
]
REPORTS: list[Report] = [
    Loading("reading", 0.25),
    Loading("warming up", None),
    Ready(ModelInfo("m", 2048)),
    LoadFailed("no such model"),
    Outputs(
        [
            Waiting("a", 1, 1),
            Begun("a", 3, 2, 2),
            Piece("a", "नम", 2, 3, [TokenInfo(5, b"\xe0\xa4", -0.5, [(5, b"\xe0\xa4", -0.5)])]),
            Paused("a", 4),
            Resumed("a", 5),
            Ended("a", "stop", 3, 2, 6, stop="\n"),
            Failed("b", "engine_error", "why", 7),
        ]
    ),
    Counted(3, 12),
    Counted(4, None, "prompt_too_long", "why", "messages"),
    StepDone(StepRecord(1, 2, [("a", "prefill", 16)], 1, 8, 0, 0)),
    Beat(31_000),
]


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


async def both_ends(
    on_report: Callable[[Report], object], on_lost: Callable[[Exception | None], None]
) -> tuple[AsyncEnd[Report], socket.socket, ThreadEnd[Command]]:
    """The parent's end on this loop and the child's for threads, on a real socket pair."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    _, parent = await asyncio.get_running_loop().create_unix_connection(
        lambda: AsyncEnd[Report](Report, on_report, on_lost), sock=ours
    )
    return parent, theirs, ThreadEnd(theirs, Command)


async def test_messages_cross_in_both_directions_and_the_end_is_told_once():
    seen: asyncio.Queue[object] = asyncio.Queue()
    parent, sock, child = await both_ends(seen.put_nowait, lambda exc: seen.put_nowait(("lost", exc)))
    for command in COMMANDS:
        parent.send(command)
    assert [await asyncio.to_thread(child.receive) for _ in COMMANDS] == COMMANDS
    for report in REPORTS:
        child.send(report)
    sock.close()
    assert [await seen.get() for _ in REPORTS] == REPORTS
    assert await seen.get() == ("lost", None)


async def test_the_child_sees_the_parents_end():
    parent, sock, child = await both_ends(print, lambda exc: None)
    parent.send(StopEngine())
    await asyncio.to_thread(child.receive)
    parent.close()
    assert await asyncio.to_thread(child.receive) is None
    sock.close()


async def test_a_broken_frame_ends_the_pipe_with_its_reason():
    lost: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
    _, sock, _ = await both_ends(print, lost.set_result)
    sock.sendall(b"\x00\x00\x00\x01\xc1")
    assert isinstance(await lost, PipeBroken)
    sock.close()


async def test_what_the_child_does_not_read_is_counted_and_sending_does_not_block():
    parent, sock, _ = await both_ends(print, lambda exc: None)
    for _ in range(8):
        parent.send(Submit(Prompt("a", text="x" * 1_000_000)))
    assert parent.unsent_bytes > 4_000_000
    parent.close()
    sock.close()


def test_a_child_whose_parent_does_not_read_waits_and_loses_nothing():
    ours, theirs = socket.socketpair()
    child: ThreadEnd[Command] = ThreadEnd(theirs, Command)
    reports = [Outputs([Piece("a", "x" * 10_000, 1, number)]) for number in range(500)]
    sent: list[int] = []

    def send() -> None:
        for number, report in enumerate(reports):
            child.send(report)
            sent.append(number)

    writer = threading.Thread(target=send)
    writer.start()
    parent: FrameDecoder[Report] = FrameDecoder(Report)
    seen = parent.feed(ours.recv(4096))
    # 5 MB were to be sent and only a buffer's worth can have been.
    assert len(sent) < 400
    while len(seen) < len(reports):
        seen += parent.feed(ours.recv(65_536))
    writer.join()
    assert seen == reports
    ours.close()
    theirs.close()
