"""The vendors' wires as contract tests ask them: what to send, and how to read what comes back.

Each of VENDOR_WIRES takes (client, url, stop) and gives an Answer, in our own words throughout.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

MAX_TOKENS = 60
_MESSAGES = [{"role": "user", "content": "Hi there"}]
#: Anthropic's reasons as ours.
_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What every wire has to agree on."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


async def chat_whole(client: httpx.AsyncClient, url: str, stop: list[str]) -> Answer:
    body = await _post(client, f"{url}/v1/chat/completions", {"messages": _MESSAGES, "stop": stop})
    choice = body["choices"][0]
    return _openai(choice["message"]["content"], choice["finish_reason"], body["usage"])


async def chat_streamed(client: httpx.AsyncClient, url: str, stop: list[str]) -> Answer:
    frames = await _openai_frames(client, f"{url}/v1/chat/completions", {"messages": _MESSAGES, "stop": stop})
    text = "".join(frame["choices"][0]["delta"].get("content", "") for frame in frames[:-1])
    return _openai(text, frames[-2]["choices"][0]["finish_reason"], frames[-1]["usage"])


async def text_whole(client: httpx.AsyncClient, url: str, stop: list[str]) -> Answer:
    body = await _post(client, f"{url}/v1/completions", {"prompt": "Hi there", "stop": stop})
    choice = body["choices"][0]
    return _openai(choice["text"], choice["finish_reason"], body["usage"])


async def text_streamed(client: httpx.AsyncClient, url: str, stop: list[str]) -> Answer:
    frames = await _openai_frames(client, f"{url}/v1/completions", {"prompt": "Hi there", "stop": stop})
    text = "".join(frame["choices"][0]["text"] for frame in frames[:-1])
    return _openai(text, frames[-2]["choices"][0]["finish_reason"], frames[-1]["usage"])


async def message_whole(client: httpx.AsyncClient, url: str, stop: list[str]) -> Answer:
    body = await _post(client, f"{url}/v1/messages", {"messages": _MESSAGES, "stop_sequences": stop})
    return _anthropic(body["content"][0]["text"], body["stop_reason"], body["usage"])


async def message_streamed(client: httpx.AsyncClient, url: str, stop: list[str]) -> Answer:
    asked = {"messages": _MESSAGES, "stop_sequences": stop}
    events = [json.loads(data) for data in await _data_lines(client, f"{url}/v1/messages", asked)]
    text = "".join(e["delta"]["text"] for e in events if e["type"] == "content_block_delta")
    assert events[-1]["type"] == "message_stop"
    return _anthropic(text, events[-2]["delta"]["stop_reason"], events[-2]["usage"])


VENDOR_WIRES: dict[str, Callable[[httpx.AsyncClient, str, list[str]], Awaitable[Answer]]] = {
    "chat, whole": chat_whole,
    "chat, streamed": chat_streamed,
    "completion, whole": text_whole,
    "completion, streamed": text_streamed,
    "message, whole": message_whole,
    "message, streamed": message_streamed,
}


# Private


async def _post(client: httpx.AsyncClient, url: str, fields: dict[str, Any]) -> Any:
    answer = await client.post(url, json={"model": "default", "max_tokens": MAX_TOKENS, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def _data_lines(client: httpx.AsyncClient, url: str, fields: dict[str, Any]) -> list[str]:
    body = {"model": "default", "max_tokens": MAX_TOKENS, "stream": True, **fields}
    answer = await client.post(url, json=body)
    assert answer.status_code == 200, answer.text
    # splitlines() on purpose, as many hand-made parsers have it: no text may break a line.
    return [line[6:] for line in answer.content.decode().splitlines() if line.startswith("data: ")]


async def _openai_frames(client: httpx.AsyncClient, url: str, fields: dict[str, Any]) -> list[Any]:
    *frames, end = await _data_lines(client, url, {**fields, "stream_options": {"include_usage": True}})
    assert end == "[DONE]"
    return [json.loads(frame) for frame in frames]


def _openai(text: str, finish_reason: str, usage: Any) -> Answer:
    return Answer(text, finish_reason, usage["prompt_tokens"], usage["completion_tokens"])


def _anthropic(text: str, stop_reason: str, usage: Any) -> Answer:
    return Answer(text, _REASONS[stop_reason], usage["input_tokens"], usage["output_tokens"])
