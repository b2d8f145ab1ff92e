"""One answer relayed: send the request, give on each piece the moment its bytes are here.

The upstream's own line and prefill cannot be told apart from outside: ``Begun`` is its answer's
head, with 0 prompt tokens, which only the end knows. A second try is made only before that head,
so never after text. It refuses to know other relays, who reads, and what a chunk's JSON looks like.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable

import httpx

from app.errors import FirstwordError, UpstreamFailed
from app.generation import Begun, Ended, Failed, FinishReason, Output, Waiting
from app.prompt import Prompt
from app.upstream import request
from app.upstream.address import Address, Patience
from app.upstream.chunk import Chunk, Unreadable, read_chunk
from app.upstream.flow import Flow
from app.upstream.probe import Served
from app.upstream.question import bounded_body
from app.upstream.refusal import in_stream, refusal
from app.upstream.sse_parser import EventTooLarge, SseEvent, SseParser
from app.upstream.transcript import Transcript

log = logging.getLogger(__name__)


class Relay:
    """One generation. ``run`` is its task, and returns its last output instead of giving it."""

    def __init__(
        self,
        prompt: Prompt,
        emit: Callable[[Output], None],
        client: httpx.AsyncClient,
        address: Address,
        served: Served,
        patience: Patience,
        now_ns: Callable[[], int],
        unreachable: Callable[[str], None],
    ) -> None:
        self.prompt = prompt
        self.emit = emit
        self.flow = Flow(prompt.id, prompt.granted_tokens, prompt.tokens_per_second, emit, now_ns)
        self._transcript = Transcript(prompt)
        self._client = client
        self._address = address
        self._served = served
        self._patience = patience
        self._now_ns = now_ns
        self._unreachable = unreachable
        # How far it is
        self._in_line = False
        self._begun_ns: int | None = None
        self._arrived_ns = 0
        self._saw_done = False
        self._tail_ends_s: float | None = None

    async def run(self) -> Ended | Failed:
        """Relay the whole answer; text already given stays given when it fails."""
        # A refusal that comes quickly, before Waiting, can still be told with its own HTTP status.
        patient = asyncio.get_running_loop().call_later(self._patience.refusal_s, self._wait_in_line)
        try:
            response = await self._open()
            try:
                self._wait_in_line()
                self._begun_ns = self._now_ns()
                self.emit(Begun(self.prompt.id, 0, 0, self._begun_ns))
                await self._read(response)
            finally:
                # Also on cancellation: closing the connection is how the upstream learns of it.
                await response.aclose()
            if self._transcript.finish is None:
                raise UpstreamFailed("the upstream's answer ended without a finish reason")
            return self.ended(self._transcript.finish)
        except FirstwordError as error:
            return self.failed(error)
        except httpx.RequestError as error:
            return self.failed(UpstreamFailed(self._address.explain(error, self._patience)))
        except (EventTooLarge, Unreadable) as error:
            return self.failed(UpstreamFailed(f"the upstream's answer cannot be read: {error}"))
        except Exception:  # The border of one generation: the others go on.
            log.exception("relaying an answer failed")
            return self.failed(FirstwordError("relaying the upstream's answer failed; see the server's log"))
        finally:
            patient.cancel()

    def ended(self, reason: FinishReason) -> Ended:
        """The last output when all went well, or when it was cancelled at this point."""
        return self._transcript.ended(reason, self._now_ns(), self._begun_ns, self.flow.paused_ns)

    def failed(self, error: FirstwordError) -> Failed:
        """The last output when it went wrong."""
        message = self._address.scrub(error.message)
        return Failed(self.prompt.id, error.code, message, self._now_ns(), error.param)

    # Private: up to the answer's head

    def _wait_in_line(self) -> None:
        if not self._in_line:
            self._in_line = True
            self.emit(Waiting(self.prompt.id, 0, self._now_ns()))

    async def _open(self) -> httpx.Response:
        """The answer's head, 2xx; one more try after a back-off if there was none or a 503."""
        url = f"{self._address.api}{request.path(self.prompt)}"
        body = request.body(self.prompt, self._served.model, self._served.owner)
        second_try = False
        while True:
            try:
                response = await self._client.send(
                    self._client.build_request("POST", url, json=body), stream=True
                )
            except httpx.RequestError as error:
                # Having listened and said nothing is no reason to ask a busy server once more.
                if second_try or isinstance(error, httpx.ReadTimeout):
                    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                        self._unreachable(self._address.explain(error, self._patience))
                    raise
            else:
                if response.is_success:
                    return response
                refused = await self._refusal(response)
                if second_try or response.status_code != 503:
                    raise refused
            second_try = True
            await asyncio.sleep(self._patience.back_off_s)

    async def _refusal(self, response: httpx.Response) -> FirstwordError:
        try:
            return refusal(response.status_code, await bounded_body(response))
        finally:
            await response.aclose()

    # Private: the answer's body

    async def _read(self, response: httpx.Response) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            await self._read_stream(response)
        elif kind.endswith("json"):
            # It does not stream: all at once is then all that can be given.
            body = await bounded_body(response)
            self._arrived_ns = self._now_ns()
            await self._take(read_chunk(body))
        else:
            raise UpstreamFailed(f"the upstream answered {kind or 'no content type'}, not text/event-stream")

    async def _read_stream(self, response: httpx.Response) -> None:
        parser = SseParser()
        network = response.aiter_bytes()
        while (data := await self._more(network)) is not None:
            self._arrived_ns = self._now_ns()
            for event in parser.feed(data):
                await self._take_event(event)
                if self._saw_done or self._transcript.stopped_here:
                    return
            if self._transcript.finish is None:
                # The grant may be used up: then nothing is read from the socket meanwhile.
                await self._flow_opened()

    async def _more(self, network: AsyncIterator[bytes]) -> bytes | None:
        """The bytes that came, as they came; None at the end. Once finished, little is waited for."""
        try:
            async with asyncio.timeout_at(self._tail_ends_s):
                return await anext(network, None)
        except (TimeoutError, httpx.RequestError):
            if self._transcript.finish is None:
                raise
            return None  # Only the usage and [DONE] can be missing.

    async def _take_event(self, event: SseEvent) -> None:
        if event.data.startswith("[DONE]"):
            self._saw_done = True
        elif event.type == "error":
            raise in_stream(read_chunk(event.data).error or event.data)
        elif event.data:
            await self._take(read_chunk(event.data))

    async def _take(self, chunk: Chunk) -> None:
        unfinished = self._transcript.finish is None
        text = self._transcript.take(chunk, self._arrived_ns)
        if text:
            await self._flow_opened()
            piece = self._transcript.piece(text, self._arrived_ns)
            self.emit(piece)
            self.flow.give(piece.tokens)
        if self._transcript.failure is not None:
            raise self._transcript.failure
        if unfinished and self._transcript.finish is not None:
            self._tail_ends_s = asyncio.get_running_loop().time() + self._patience.tail_s

    async def _flow_opened(self) -> None:
        # What was held here was not given on as it came, so it counts from now.
        if await self.flow.opened():
            self._arrived_ns = self._now_ns()
