"""One request of a vendor's dialect on its way through the server: n replies in, one answer out.

It starts the replies, then writes frames or one whole answer, and gives every cursor up at the end.
The response begins with its first frame and not before: an error until then, be it at the door, in
line or in prefill, is raised and becomes a real HTTP status, which the SDKs can act on. These wires
know no resume: when the client leaves, at whatever stage, the replies stop. It refuses to know the
vendors' words; they come as frames and as ``write_whole``.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.types import Receive, Scope, Send

from app.errors import FirstwordError
from app.events import AnyEvent, Done
from app.prompt import Prompt
from app.reply.pace import Pace
from app.reply.reader import Reader
from app.reply.registry import Replies
from app.settings import Settings
from app.transports.answer import STREAM_HEADERS, body_message, disconnected, start_message
from app.transports.chorus import Chorus
from app.transports.framing import JSON, SSE, json_bytes
from app.transports.outcome import Outcome, failure, outcome
from app.transports.outlet import ConnectionGone, Outlet, Stalled, unless_gone
from app.transports.wire import wire_of

_SSE_HEADERS = {"content-type": f"{SSE}; charset=utf-8", **STREAM_HEADERS}


class Frames(Protocol):
    """The frames of one answer: ChatStream, TextStream, MessageStream."""

    @property
    def over(self) -> bool: ...

    def on(self, index: int, event: AnyEvent) -> bytes: ...

    def failed(self, error: FirstwordError) -> bytes: ...

    def ping(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Writing:
    """How an answer is written: by frames, or where there are none in one piece by ``write_whole``."""

    frames: Frames | None
    write_whole: Callable[[Sequence[Outcome]], Any]
    headers: dict[str, str]


class VendorAnswer:
    """The response to one request; an ASGI application, so that its end is ours to see.

    Raises the FirstwordError of a reply that was refused, or that failed before the first byte.
    """

    def __init__(
        self, replies: Replies, settings: Settings, prompts: Sequence[Prompt], writing: Writing
    ) -> None:
        self._replies = replies
        self._settings = settings
        self._prompts = prompts
        self._writing = writing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outlet = Outlet(send, wire_of(scope), self._settings.send_s)
        readers = self._start()
        chorus = Chorus(readers)
        guards = [asyncio.create_task(outlet.abort_if_slow(reader.reply)) for reader in readers]
        try:
            if self._writing.frames is not None:
                writing = self._write_frames(self._writing.frames, readers, chorus, outlet)
            else:
                writing = self._write_whole(chorus, outlet)
            await unless_gone(writing, disconnected(receive))
        except Stalled as stalled:
            for reader in readers:
                reader.give_up(str(stalled))
        except ConnectionGone:
            return
        finally:
            chorus.close()
            for guard in guards:
                guard.cancel()

    # Private

    def _start(self) -> list[Reader]:
        """Start all replies or none, each with a reader: what nobody reads is not waited for."""
        streamed = self._writing.frames is not None
        pace: Pace = "token" if streamed else "whole"
        readers: list[Reader] = []
        try:
            for prompt in self._prompts:
                readers.append(self._replies.start(prompt, resumable=False).attach(pace, acks=streamed))
        except FirstwordError:
            for reader in readers:
                reader.close()
            raise
        return readers

    async def _write_frames(
        self, frames: Frames, readers: Sequence[Reader], chorus: Chorus, outlet: Outlet
    ) -> None:
        silence_s = self._settings.vendor_ping_s
        clock = asyncio.get_running_loop().time
        begun, written_s = False, clock()
        while not frames.over:
            told = await chorus.next(max(0.0, written_s + silence_s - clock()))
            receipt = readers[told[0]].receipt(told[1]) if told is not None else None
            if told is None:
                data = frames.ping()
            elif (error := failure(told[1])) is None:
                data = frames.on(*told)
            elif begun:
                data = frames.failed(error)
            else:
                raise error
            if not data:
                if receipt is not None:
                    receipt()
                continue
            if not begun:
                begun = True
                await outlet.write(start_message(200, _SSE_HEADERS | self._writing.headers))
            await outlet.write(body_message(data, more=not frames.over), receipt)
            written_s = clock()

    async def _write_whole(self, chorus: Chorus, outlet: Outlet) -> None:
        events: list[list[AnyEvent]] = [[] for _ in self._prompts]
        unfinished = len(events)
        while unfinished:
            told = await chorus.next()
            assert told is not None, "it waits without end"
            index, event = told
            if (error := failure(event)) is not None:
                raise error
            events[index].append(event)
            unfinished -= isinstance(event, Done)
        data = json_bytes(self._writing.write_whole([outcome(past) for past in events]))
        headers = {"content-type": JSON, "content-length": str(len(data)), **self._writing.headers}
        await outlet.write(start_message(200, headers))
        await outlet.write(body_message(data, more=False))


def new_request_id() -> str:
    """A name for one request, for the headers by which both vendors let people ask about it."""
    return f"req_{secrets.token_urlsafe(12)}"
