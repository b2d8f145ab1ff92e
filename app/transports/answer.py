"""Answer: one HTTP response out of a reply's reader, streamed or in one piece.

A class of our own instead of Starlette's streaming response, for what that one does not do: it
sends no status before the engine has taken the prompt, so that a refusal is a real one; it notices
that the client is gone while queued, in prefill, blocked in a send and where nothing is streamed;
it gives the cursor up in ``finally`` of the call itself, never in a generator's. It refuses to know
routes and what was asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from app.errors import FirstwordError, from_code
from app.events import Delta, Done, Error
from app.reply.link import LinkPlan
from app.reply.reader import Reader
from app.settings import Settings
from app.transports import framing
from app.transports.crossing import Crossing
from app.transports.framing import Frames
from app.transports.outlet import ConnectionGone, Outlet, beside, unless_gone
from app.transports.reading import Reading
from app.transports.wire import Wire, wire_of

#: For everything that is streamed: proxies must neither keep, nor change, nor collect it.
STREAM_HEADERS = {
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
}


async def disconnected(receive: Receive) -> None:
    """Wait until the client is gone. The request's body has to be read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


class StreamedAnswer:
    """The reader's events as frames, each as soon as it is there. Raises what refuses the prompt."""

    def __init__(
        self, reader: Reader, how: Reading, frames: Frames, settings: Settings, headers: dict[str, str]
    ) -> None:
        self._reader = reader
        self._how = how
        self._frames = frames
        self._settings = settings
        charset = "" if frames.media_type == framing.NDJSON else "; charset=utf-8"
        self._headers = {"content-type": frames.media_type + charset, **STREAM_HEADERS, **headers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wire = wire_of(scope)
        outlet = outlet_of(scope, send)
        self._reader.is_cut_off = wire.cut_if_dead
        try:
            unclean = await unless_gone(self._stream(outlet), disconnected(receive))
            if unclean:
                wire.cut()
                async with beside(outlet.abort_if_slow(self._reader.reply)):
                    await asyncio.wait_for(disconnected(receive), self._settings.send_s)
        except ConnectionGone:
            if wire.stalled:
                self._reader.give_up("the client takes nothing any more")
        except TimeoutError:
            wire.abort()
        finally:
            self._reader.close()
        if self._reader.reply.failure is not None:
            await outlet.abort_if_slow(self._reader.reply)

    # Private

    async def _stream(self, outlet: Outlet) -> bool:
        """Write everything; True when the body has to end without its last chunk."""
        reply = self._reader.reply
        await reply.opened()
        await outlet.write(start_message(200, self._headers))
        crossing = Crossing(self._reader, self._how, self._frames.on)
        watches = [outlet.abort_if_slow(reply)]
        is_plain = isinstance(self._frames, framing.PlainFrames)
        if not is_plain:
            watches.append(outlet.beat(self._settings.heartbeat_s, self._ping))
        async with beside(*watches):
            try:
                async for event, frame in crossing:
                    receipt = self._reader.receipt(event)
                    if frame:
                        await outlet.write(body_message(frame), receipt)
                    elif receipt is not None:
                        # Held back by the framing, or nothing: it waits for more text, not for the reader.
                        receipt()
                    if is_plain and isinstance(event, Error):
                        return True
                await outlet.write(body_message(b"", more=False))
                return False
            finally:
                crossing.close()

    def _ping(self) -> Message:
        t_ms = (time.monotonic_ns() - self._reader.reply.received_ns) / 1e6
        return body_message(self._frames.on(framing.ping(t_ms)))


class WholeAnswer:
    """One response when the reply is over. Raises what refuses the prompt and what ended it early."""

    def __init__(self, reader: Reader, how: Reading, respond: Callable[[str, Done], Response]) -> None:
        self._reader = reader
        self._how = how
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await unless_gone(self._make(), disconnected(receive))
        except ConnectionGone:
            return
        finally:
            self._reader.close()
        await response(scope, receive, send)

    # Private

    async def _make(self) -> Response:
        text, end = await self._collect()
        if isinstance(end, Error):
            raise from_code(end.code, end.message, end.param)
        response = self._respond(text, end)
        if self._how.link is not None and end.finish_reason != "cancelled":
            # One body, one frame: its way is all that a link can add.
            now_ms = asyncio.get_running_loop().time() * 1000
            (at_ms,) = LinkPlan(self._how.link).send(len(response.body), now_ms, last=True)
            await asyncio.sleep((at_ms - now_ms) / 1000)
        return response

    async def _collect(self) -> tuple[str, Done | Error]:
        texts: list[str] = []
        async for event in self._reader:
            if isinstance(event, Delta):
                texts.append(event.text)
            elif isinstance(event, Done | Error):
                return "".join(texts), event
        raise FirstwordError("The reply ended without saying how.")


def start_message(status: int, headers: dict[str, str]) -> Message:
    """The ASGI message that opens a response."""
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": raw}


def body_message(body: bytes, more: bool = True) -> Message:
    """The ASGI message that goes on with it, or ends it."""
    return {"type": "http.response.body", "body": body, "more_body": more}


def outlet_of(scope: Scope, send: Send) -> Outlet:
    """The way out of one streamed body; HTTP/1.0 has no chunks, of which one could be made heavy."""
    wire = wire_of(scope)
    return Outlet(send, wire, partial(_send_heavy, send, wire) if scope["http_version"] == "1.1" else None)


# Private


async def _send_heavy(send: Send, wire: Wire, message: Message, least_bytes: int) -> None:
    body = message["body"]
    if body and message["more_body"] and wire.buffered_bytes == 0:
        # ASGI has no words for a chunk's extension. While nothing waits, this cannot overtake anything.
        wire.write(framing.heavy_chunk(body, least_bytes))
    else:
        await send(message)
