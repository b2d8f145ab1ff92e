"""What all these servers say, and the frames that OpenAI's and Anthropic's contracts ask for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

SENTENCE = "The kettle sings its song once more, नमस्ते and 你好 to all of you 🫖 who wait beside it. "

#: Tokens of at most four bytes outside ASCII, so that characters are cut as real vocabularies cut them.
TOKENS: list[bytes] = [
    word.encode()[at : at + 4] if not word.isascii() else word.encode()
    for word in [part + " " for part in SENTENCE.split()]
    for at in range(0, len(word.encode()) if not word.isascii() else 1, 4)
]
FIRST_S, STEP_S = 0.05, 0.009


async def made(num: int) -> AsyncIterator[bytes]:
    """``num`` tokens as a model makes them; every call is another generation."""
    for number in range(num):
        await asyncio.sleep(FIRST_S if number == 0 else STEP_S)
        yield TOKENS[number % len(TOKENS)]


async def texts(num: int) -> AsyncIterator[str]:
    """The same as text: bytes wait until their character is whole."""
    held = b""
    async for token in made(num):
        held += token
        try:
            text = held.decode()
        except UnicodeDecodeError:
            continue
        held = b""
        yield text


def sse(value: Any, name: str = "") -> bytes:
    event = f"event: {name}\n".encode() if name else b""
    return event + b"data: " + json.dumps(value).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "tiny",
    }
    return {**head, "choices": [choice], "usage": None, **more}


def content(text: str, first: bool = False) -> bytes:
    """One piece; the role goes with the first."""
    opening = sse(chunk({"role": "assistant", "content": ""})) if first else b""
    return opening + sse(chunk({"content": text}))


def closing(num: int) -> bytes:
    """finish_reason, usage and [DONE]."""
    usage = {"prompt_tokens": 5, "completion_tokens": num, "total_tokens": 5 + num}
    return sse(chunk({}, "stop")) + sse(chunk({}, choices=[], usage=usage)) + DONE


async def frames(num: int) -> AsyncIterator[bytes]:
    """A whole, healthy stream of chat completion chunks."""
    first = True
    async for text in texts(num):
        yield content(text, first)
        first = False
    yield closing(num)


async def whole(num: int) -> dict[str, Any]:
    """A chat completion that is not streamed; it takes as long."""
    text = "".join([piece async for piece in texts(num)])
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 5, "completion_tokens": num, "total_tokens": 5 + num}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}


REFUSAL = {"error": {"message": "messages must be a list", "type": "invalid_request_error", "code": None}}
MODELS = {"object": "list", "data": [{"id": "tiny", "object": "model"}]}
