"""Asking: one question to one target, as an Exchange.

It joins dialect, talk and connection; it refuses to know how many are asked, when and why.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from app.client.connection import Course, Patience, converse
from app.client.dialects.dialect import Question
from app.client.dialects.plain import PLAIN
from app.client.exchange import CannotConnect, Exchange
from app.client.http_answer import Request
from app.client.talks import Enough, HttpTalk, SocketTalk
from app.client.target import Target

Clock = Callable[[], int]

_ERRORS = {
    "silent": "nothing came for too long",
    "overlong": "the answer took more time or bytes than we spend",
}


async def ask(
    target: Target,
    question: Question,
    *,
    streamed: bool = True,
    scheduled_ns: int | None = None,
    patience: Patience | None = None,
    enough: Enough | None = None,
    now_ns: Clock = time.monotonic_ns,
) -> Exchange:
    """Ask once. ``scheduled_ns`` is when it was due (default: now); ``enough`` ends it early.

    Raises CannotConnect, and ValueError when a whole answer cannot be asked for there.
    """
    assert target.dialect is not None
    dialect = target.dialect
    request = (dialect.ask if streamed else dialect.ask_whole)(question, target.path)
    if request is None:
        raise ValueError(f"{dialect.title}: no whole answer can be asked for at {target.path}")
    talk: HttpTalk | SocketTalk
    if dialect.socket and streamed:
        talk = SocketTalk(request, target.address, dialect, enough)
    else:
        talk = HttpTalk(request, target.host, dialect, streamed=streamed, enough=enough)
    began_ns = now_ns()
    course = await converse(target.address, talk, patience or Patience(), now_ns)
    due_ns = began_ns if scheduled_ns is None else scheduled_ns
    return _exchange(talk, course, due_ns, began_ns, streamed)


async def request_raw(
    target: Target, request: Request, patience: Patience | None = None, now_ns: Clock = time.monotonic_ns
) -> Exchange:
    """Any HTTP request to the target's server, its body not understood. Raises CannotConnect."""
    talk = HttpTalk(request, target.host, PLAIN, streamed=True)
    began_ns = now_ns()
    course = await converse(target.address, talk, patience or Patience(), now_ns)
    return _exchange(talk, course, began_ns, began_ns, True)


def failed(error: CannotConnect, scheduled_ns: int, began_ns: int, streamed: bool, now_ns: int) -> Exchange:
    """The exchange that could not begin."""
    return Exchange(scheduled_ns, began_ns, now_ns, now_ns, streamed, "failed", error=str(error))


# Private


def _exchange(
    talk: HttpTalk | SocketTalk, course: Course, scheduled_ns: int, began_ns: int, streamed: bool
) -> Exchange:
    hearing = talk.hearing
    error = hearing.error or _ERRORS.get(course.end)
    if error is None and not hearing.deltas and course.end != "stopped":
        error = "no text came"
    return Exchange(
        scheduled_ns,
        began_ns,
        course.sent_ns,
        course.ended_ns,
        streamed,
        course.end,
        talk.head,
        tuple(talk.reads),
        tuple(hearing.frames),
        tuple(hearing.deltas),
        hearing.finish_reason,
        hearing.usage,
        error,
    )
