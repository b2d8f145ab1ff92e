from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable

from app.engine.frames import FrameDecoder, PipeBroken
from app.engine.messages import Command, Outputs, Report, StopEngine, Submit
from app.engine.pipe import AsyncEnd, ThreadEnd
from app.generation import Piece
from app.prompt import Prompt
from tests.engine.every_message import COMMANDS, REPORTS


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
