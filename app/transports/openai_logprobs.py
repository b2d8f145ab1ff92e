"""Tokens and their probabilities in OpenAI's two spellings. Pure.

Chat lists objects, one a token; completions list columns. A token may be half a character: then
its ``bytes`` are exact and its ``token`` is a stand-in. It refuses to know frames and who asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from app.generation import TokenInfo

#: JSON has no infinity; vendors report the logarithm of "impossible" as this number.
LEAST_LOGPROB = -9999.0


def chat_logprobs(info: Iterable[TokenInfo]) -> dict[str, Any]:
    """``choices[].logprobs`` of a chat answer or chunk."""
    content = [
        {
            **_entry(token.data, token.logprob),
            "top_logprobs": [_entry(data, logprob) for _, data, logprob in token.top],
        }
        for token in info
    ]
    return {"content": content, "refusal": None}


class TextLogprobs:
    """``choices[].logprobs`` of one completion, whole or frame by frame.

    It remembers how many characters came before, since ``text_offset`` counts from the first.
    """

    def __init__(self) -> None:
        self._characters = 0

    def take(self, info: Iterable[TokenInfo]) -> dict[str, Any]:
        """The columns for the next tokens."""
        columns: dict[str, list[Any]] = {
            "tokens": [],
            "token_logprobs": [],
            "top_logprobs": [],
            "text_offset": [],
        }
        for token in info:
            top = {_spelt(data): _finite(logprob) for _, data, logprob in token.top}
            # As documented, the chosen token is always among them, even when it was no favourite.
            top.setdefault(_spelt(token.data), _finite(token.logprob))
            columns["tokens"].append(_spelt(token.data))
            columns["token_logprobs"].append(_finite(token.logprob))
            columns["top_logprobs"].append(top)
            columns["text_offset"].append(self._offset(token.data))
        return columns

    # Private

    def _offset(self, data: bytes) -> int:
        """Where the token's first character begins, which an earlier token may have begun."""
        continues = bool(data) and _is_continuation(data[0])
        offset = self._characters - 1 if continues and self._characters else self._characters
        self._characters += sum(not _is_continuation(byte) for byte in data)
        return offset


# Private


def _entry(data: bytes, logprob: float) -> dict[str, Any]:
    return {"token": data.decode("utf-8", "replace"), "logprob": _finite(logprob), "bytes": list(data)}


def _spelt(data: bytes) -> str:
    """A token as a key: OpenAI spells bytes that are no text as ``bytes:\\xf0\\x9f``."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)


def _finite(logprob: float) -> float:
    return max(logprob, LEAST_LOGPROB) if not math.isnan(logprob) else LEAST_LOGPROB


def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80
