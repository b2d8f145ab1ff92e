"""One request of a vendor's dialect on its way through the server: n replies in, one answer out.

It starts the replies, then writes frames or one whole answer, and gives every cursor up at the end.
The response begins with its first frame and not before: an error until then, be it at the door, in
line or in prefill, is raised and becomes a real HTTP status, which the SDKs can act on. These wires
know no resume: when the client leaves, at whatever stage, the replies stop. It refuses to know the
vendors' words; they come as frames and as ``write_whole``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.types import Message, Receive, Scope, Send

from app.errors import FirstwordError
from app.events import AnyEvent
from app.prompt import Prompt
from app.reply.pace import Pace
from app.reply.reader import Reader
from app.reply.registry import Replies
from app.settings import Settings
from app.transports.answer import STREAM_HEADERS, body_message, disconnected, outlet_of, start_message
from app.transports.chorus import Chorus
from app.transports.framing import JSON, SSE, json_bytes
from app.transports.outcome import Outcome, failure, outcome
from app.transports.outlet import ConnectionGone, Outlet, beside, unless_gone

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
        readers = self._start()
        chorus = Chorus(readers)
        body = _Body(send, _SSE_HEADERS | self._writing.headers)
        outlet = outlet_of(scope, body)
        try:
            if self._writing.frames is not None:
                writing = self._write_frames(self._writing.frames, readers, chorus, body, outlet)
            else:
                writing = self._write_whole(chorus, send)
            await unless_gone(writing, disconnected(receive))
        except ConnectionGone:
            if outlet.stalled:
                for reader in readers:
                    reader.give_up("the client takes nothing any more")
        finally:
            chorus.close()
        for reader in readers:
            if reader.reply.failure is not None:
                await outlet.abort_if_slow(reader.reply)

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
        self, frames: Frames, readers: Sequence[Reader], chorus: Chorus, body: _Body, outlet: Outlet
    ) -> None:
        beat = outlet.beat(self._settings.vendor_ping_s, lambda: body_message(frames.ping()))
        async with beside(beat, *(outlet.abort_if_slow(reader.reply) for reader in readers)):
            async for index, event in chorus:
                error = failure(event)
                if error is not None and not body.begun:
                    raise error
                data = frames.on(index, event) if error is None else frames.failed(error)
                receipt = readers[index].receipt(event)
                if data:
                    await outlet.write(body_message(data, more=not frames.over), receipt)
                elif receipt is not None:
                    receipt()
                if frames.over:
                    return

    async def _write_whole(self, chorus: Chorus, send: Send) -> None:
        events: list[list[AnyEvent]] = [[] for _ in self._prompts]
        async for index, event in chorus:
            if (error := failure(event)) is not None:
                raise error
            events[index].append(event)
        data = json_bytes(self._writing.write_whole([outcome(past) for past in events]))
        headers = {"content-type": JSON, "content-length": str(len(data)), **self._writing.headers}
        await send(start_message(200, headers))
        await send(body_message(data, more=False))


class _Body:
    """Sends the parts of a body, and before the first of them the head of the response."""

    def __init__(self, send: Send, headers: dict[str, str]) -> None:
        self._send = send
        self._headers = headers
        self.begun = False

    async def __call__(self, part: Message) -> None:
        if not self.begun:
            self.begun = True
            await self._send(start_message(200, self._headers))
        await self._send(part)


def new_request_id() -> str:
    """A name for one request, for the headers by which both vendors let people ask about it."""
    return f"req_{secrets.token_urlsafe(12)}"
