"""Dialects: one question in each server's words, and its stamped lines read back as a stream.

All speak OpenAI's chat completions; they differ in how an answer of an exact length is asked for
(end-of-text ignored). Reading happens after the measurement. Pure; it refuses to know sockets.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from bench.client import Exchange

Style = Literal["ignore_eos", "transformers"]
Message = dict[str, str]

#: `transformers serve` has no ignore_eos: a token that greedy text never holds stands in for it.
_NEVER_SAID = 5


@dataclass(frozen=True, slots=True)
class Stream:
    """One streamed answer: when each piece of text came."""

    began_ns: int
    ended_ns: int
    arrivals_ns: tuple[int, ...]
    tokens: int
    prompt_tokens: int | None = None
    text: str = ""
    error: str | None = None


def user(text: str) -> list[Message]:
    """A conversation of one question."""
    return [{"role": "user", "content": text}]


def chat(style: Style, model: str, messages: list[Message], tokens: int, stream: bool) -> dict[str, Any]:
    """The body of one chat completion: greedy, ``tokens`` tokens long, whatever the model says."""
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "max_tokens": tokens,
        "temperature": 0,
        "stream": stream,
    }
    if style == "ignore_eos":
        body["ignore_eos"] = True
        if stream:
            body["stream_options"] = {"include_usage": True}
    else:
        config = {
            "eos_token_id": _NEVER_SAID,
            "pad_token_id": 2,
            "do_sample": False,
            "max_new_tokens": tokens,
        }
        body["generation_config"] = json.dumps(config)
    return body


def read_stream(answer: Exchange) -> Stream:
    """The stream that an exchange's lines are; tokens by ``usage``, else one for each piece."""
    arrivals: list[int] = []
    texts: list[str] = []
    usage: dict[str, Any] = {}
    error = answer.error
    for at_ns, line in answer.lines if error is None else []:
        if not line.startswith(b"data:") or line[5:].strip() == b"[DONE]":
            continue
        chunk = json.loads(line[5:])
        if "error" in chunk:
            error = str(chunk["error"])
            break
        usage = chunk.get("usage") or usage
        text = "".join(
            (choice.get("delta") or {}).get("content") or "" for choice in chunk.get("choices") or []
        )
        if text:
            arrivals.append(at_ns)
            texts.append(text)
    if error is None and not arrivals:
        error = "no text came"
    return Stream(
        answer.began_ns,
        answer.ended_ns,
        tuple(arrivals),
        int(usage.get("completion_tokens") or len(arrivals)),
        usage.get("prompt_tokens"),
        "".join(texts),
        error,
    )
