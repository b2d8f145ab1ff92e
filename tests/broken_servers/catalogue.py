"""The servers: twelve and a few more, each broken in one way that is seen in the wild, and healthy ones.

Each is an answering function; what is not about its defect is the healthy server's. The doctor has to
find exactly the codes named beside each of them in the tests.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable

from tests.broken_servers import words
from tests.broken_servers.wire import Answer, Asked, Out
from tests.broken_servers.words import DONE, chunk, closing, content, frames, made, sse, texts

SSE = "text/event-stream"
Stream = Callable[[Asked, Out], Awaitable[None]]


def openai(stream: Stream) -> Answer:
    """A server that is healthy but for how it streams."""

    async def answer(asked: Asked, out: Out) -> None:
        if asked.path == "/v1/models":
            await out.whole(words.MODELS)
        elif asked.path != "/v1/chat/completions":
            await out.whole({"error": {"message": "not found"}}, 404)
        elif asked.wrong or "messages" not in asked.body:
            await out.whole(words.REFUSAL, 400)
        elif asked.stream:
            await stream(asked, out)
        else:
            await out.whole(await words.whole(asked.max_tokens))

    return answer


# Healthy


async def healthy(asked: Asked, out: Out) -> None:
    await out.head(SSE, cache_control="no-cache, no-transform", x_accel_buffering="no")
    async for frame in frames(asked.max_tokens):
        await out.write(frame)
    await out.end()


def one_at_a_time(*, stops: bool) -> Answer:
    """A server with one slot; what a reader who left leaves behind occupies it, or not."""
    slot = asyncio.Lock()

    async def stream(asked: Asked, out: Out) -> None:
        gone = asyncio.ensure_future(out.gone())
        async with slot:
            await out.head(SSE)
            async for frame in frames(asked.max_tokens):
                if gone.done():
                    if stops:
                        return
                else:
                    await out.write(frame)
        gone.cancel()
        if not out.writer.is_closing():
            await out.end()

    return openai(stream)


def counting(*, stops: bool) -> Answer:
    """A server with many slots that tells vLLM's count of those in use."""
    running: set[int] = set()

    async def stream(asked: Asked, out: Out) -> None:
        number = len(running) + 1
        running.add(number)
        gone = asyncio.ensure_future(out.gone())
        try:
            await out.head(SSE)
            async for frame in frames(asked.max_tokens):
                if not gone.done():
                    await out.write(frame)
                elif stops:
                    return
            if not gone.done():
                await out.end()
        finally:
            running.discard(number)
            gone.cancel()

    streamed = openai(stream)

    async def answer(asked: Asked, out: Out) -> None:
        if asked.path == "/metrics":
            text = f'# HELP x\nvllm:num_requests_running{{engine="0"}} {len(running)}.0\n'
            await out.head("text/plain", chunked=False, content_length=str(len(text)))
            await out.raw(text.encode())
        else:
            await streamed(asked, out)

    return answer


# Delivery


async def buffers_everything(asked: Asked, out: Out) -> None:
    collected = [frame async for frame in frames(asked.max_tokens)]
    await out.head(SSE)
    await out.write(*collected)
    await out.end()


async def gzip_buffers(asked: Asked, out: Out) -> None:
    if not asked.takes_gzip:
        await healthy(asked, out)
        return
    zipper = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    await out.head(SSE, content_encoding="gzip")
    async for frame in frames(asked.max_tokens):
        if data := zipper.compress(frame):
            await out.write(data)
    await out.write(zipper.flush())
    await out.end()


async def flushes_4_kib(asked: Asked, out: Out) -> None:
    held = b""
    await out.head(SSE, server="nginx/1.22.1")
    async for frame in frames(asked.max_tokens):
        held += frame
        while len(held) >= 4096:
            await out.write(held[:4096])
            held = held[4096:]
    await out.write(held)
    await out.end()


async def flushes_by_the_clock(asked: Asked, out: Out) -> None:
    held: list[bytes] = []
    ended = asyncio.Event()

    async def collect() -> None:
        async for frame in frames(asked.max_tokens):
            held.append(frame)
        ended.set()

    await out.head(SSE)
    collecting = asyncio.ensure_future(collect())
    clock = asyncio.get_running_loop().time
    due_s = clock()
    while not ended.is_set():
        due_s += 0.5
        try:
            async with asyncio.timeout_at(due_s):
                await ended.wait()
        except TimeoutError:
            pass
        data = b"".join(held)
        held.clear()
        if data:
            await out.write(data)
    await collecting
    await out.end()


async def http_1_0(asked: Asked, out: Out) -> None:
    await out.head(SSE, version="1.0", chunked=False)
    async for frame in frames(asked.max_tokens):
        await out.write(frame)


async def fake_streaming(asked: Asked, out: Out) -> None:
    collected = [frame async for frame in frames(asked.max_tokens)]
    await out.head(SSE)
    for frame in collected:
        await asyncio.sleep(0.004)
        await out.write(frame)
    await out.end()


async def content_length(asked: Asked, out: Out) -> None:
    body = b"".join([frame async for frame in frames(asked.max_tokens)])
    await out.head(SSE, chunked=False, content_length=str(len(body)))
    await out.raw(body)


async def one_chunk(asked: Asked, out: Out) -> None:
    body = b"".join([frame async for frame in frames(asked.max_tokens)])
    await out.head(SSE)
    await out.write(body)
    await out.end()


# Form


async def splits_characters(asked: Asked, out: Out) -> None:
    await out.head(SSE)
    first = True
    async for token in made(asked.max_tokens):
        await out.write(content(token.decode("utf-8", "replace"), first))
        first = False
    await out.write(closing(asked.max_tokens))
    await out.end()


async def no_blank_lines(asked: Asked, out: Out) -> None:
    await out.head("application/json")
    async for frame in frames(asked.max_tokens):
        await out.write(frame.replace(b"\n\n", b"\n"))
    await out.end()


# Contract


async def missing_done(asked: Asked, out: Out) -> None:
    await out.head(SSE)
    async for frame in frames(asked.max_tokens):
        await out.write(frame.removesuffix(DONE))
    await out.end()


async def error_then_silence(asked: Asked, out: Out) -> None:
    await out.head(SSE)
    num = 0
    async for text in texts(asked.max_tokens):
        await out.write(content(text, num == 0))
        num += 1
        if num == 5:
            break
    await out.write(sse({"error": {"message": "out of memory", "type": "server_error"}}))
    await out.gone()


async def never_ends(asked: Asked, out: Out) -> None:
    await out.head(SSE)
    async for frame in frames(asked.max_tokens):
        await out.write(frame)
    await out.gone()


async def cuts_off(asked: Asked, out: Out) -> None:
    await out.head(SSE)
    left = max(2, asked.max_tokens // 2)
    async for frame in frames(asked.max_tokens):
        await out.write(frame)
        left -= 1
        if left == 0:
            return


async def sloppy_openai(asked: Asked, out: Out) -> None:
    """A role long before the text, again in every chunk, no finish_reason, no usage, ids, other names."""
    await out.head(SSE, cache_control="public, max-age=60")
    await out.write(sse(chunk({"role": "assistant", "content": ""})))
    async for text in texts(asked.max_tokens):
        piece = {**chunk({"role": "assistant", "content": text}), "object": "chunk"}
        await out.write(b"id: 1\n" + sse(piece))
    await out.write(DONE)
    await out.end()


def refuses_with(status: int, body: object) -> Answer:
    """Healthy, but for what it says to wrong requests."""
    right = openai(healthy)

    async def answer(asked: Asked, out: Out) -> None:
        if asked.wrong:
            await out.whole(body, status)
        else:
            await right(asked, out)

    return answer


# Anthropic


async def message_events(num: int) -> AsyncIterator[tuple[str, dict[str, object]]]:
    usage = {"input_tokens": 5, "output_tokens": 0}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage}
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    started = False
    async for text in texts(num):
        if not started:
            started = True
            yield "message_start", {"message": message}
            yield "content_block_start", block
            yield "ping", {}
        yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}}
    yield "content_block_stop", {"index": 0}
    yield "message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": num}}
    yield "message_stop", {}


def anthropic(
    *, names: bool = True, without: tuple[str, ...] = (), usage: bool = True, shaped: bool = True
) -> Answer:
    """A server of Anthropic's contract, healthy unless told otherwise."""

    async def answer(asked: Asked, out: Out) -> None:
        if asked.path != "/v1/messages":
            await out.whole({"type": "error", "error": {"type": "not_found_error", "message": "no"}}, 404)
        elif asked.wrong or "messages" not in asked.body:
            error = {"type": "invalid_request_error", "message": "messages: must be a list"}
            await out.whole({"type": "error", "error": error} if shaped else {"detail": "no"}, 400)
        elif asked.stream:
            await stream(asked, out)
        else:
            text = "".join([piece async for piece in texts(asked.max_tokens)])
            counts = {"input_tokens": 5, "output_tokens": asked.max_tokens}
            body = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": text}]}
            await out.whole({**body, "stop_reason": "end_turn", "usage": counts})

    async def stream(asked: Asked, out: Out) -> None:
        await out.head(SSE)
        async for name, event in message_events(asked.max_tokens):
            if name in without:
                continue
            if not usage and name == "message_start":
                event = {"message": {"id": "msg_1"}}
            await out.write(sse({"type": name, **event}, name if names else ""))
        await out.end()

    return answer


# Plain text


def plain(*, at_once: bool = False, portions: tuple[int, ...] = (1,)) -> Answer:
    """Chunked text at /generate-stream, in portions of so many tokens, over and over."""

    async def answer(asked: Asked, out: Out) -> None:
        if asked.path != "/generate-stream":
            await out.whole({"detail": "not found"}, 404)
            return
        await out.head("text/plain; charset=utf-8")
        held: list[bytes] = []
        written = 0
        async for token in made(asked.max_tokens):
            held.append(token)
            if not at_once and len(held) >= portions[written % len(portions)]:
                await out.write(b"".join(held))
                held.clear()
                written += 1
        if held:
            await out.write(b"".join(held))
        await out.end()

    return answer
