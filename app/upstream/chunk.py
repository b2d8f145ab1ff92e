"""One frame of an OpenAI-compatible answer: its JSON read into text, tokens and endings. Pure.

Chat and completions, streamed chunks and whole answers have nearly one shape; all become a Chunk.
Unknown keys are ignored, keys of a wrong type are an error. It refuses to know the wire, and what
is done about an error that a frame carries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from app.generation import TokenInfo

#: The id of a token whose number the server did not tell: the OpenAI contract has none.
UNKNOWN_ID = -1

#: More than any context holds, and still exact in every JSON reader.
Count = Annotated[int, Meta(ge=0, le=2**53)]


class Unreadable(ValueError):
    """A frame is not the JSON that the contract asks for."""


class CachedTokens(msgspec.Struct, frozen=True):
    cached_tokens: Count | None = None


class Usage(msgspec.Struct, frozen=True):
    """What the server counted; in a stream a running total or the final one."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: CachedTokens | None = None

    @property
    def cached_tokens(self) -> int:
        details = self.prompt_tokens_details
        return details.cached_tokens or 0 if details is not None else 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one frame tells. ``finish`` is the server's own word; ``error`` its own object."""

    text: str = ""
    info: tuple[TokenInfo, ...] = ()
    finish: str | None = None
    stop: str | None = None
    usage: Usage | None = None
    error: Any = None


def read_chunk(data: str | bytes) -> Chunk:
    """Read one frame, or a whole answer, which is one large frame. Raises Unreadable."""
    try:
        frame = _decoder.decode(data)
        choice = next((c for c in frame.choices or () if c.index == 0), None)
        # An older vLLM spells an error without the wrapper that names it so.
        error = frame.error or (frame.message if frame.object == "error" else None)
        if choice is None:
            return Chunk(usage=frame.usage, error=error)
        said = choice.delta or choice.message
        return Chunk(
            text=(said.content if said is not None else choice.text) or "",
            info=_token_infos(choice.logprobs),
            finish=choice.finish_reason,
            stop=next((s for s in (choice.stop_reason, choice.matched_stop) if isinstance(s, str)), None),
            usage=frame.usage,
            error=error,
        )
    except (
        msgspec.MsgspecError,
        ValueError,
        ArithmeticError,
        RecursionError,
        TypeError,
        LookupError,
        AttributeError,
    ) as error:
        shown = data[:80] if isinstance(data, str) else data[:80].decode("utf-8", "replace")
        raise Unreadable(f"cannot read the frame {shown!r}: {error}") from None


# Private


class _Said(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    index: int = 0
    delta: _Said | None = None
    message: _Said | None = None
    text: str | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    stop_reason: Any = None  # vLLM: the stop string, or a token's number
    matched_stop: Any = None  # SGLang: the same


class _Frame(msgspec.Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    object: str = ""
    message: Any = None


_decoder = msgspec.json.Decoder(_Frame)


def _token_infos(logprobs: Any) -> tuple[TokenInfo, ...]:
    if not logprobs:
        return ()
    if logprobs.get("content") is not None:
        return tuple(_of_chat(entry) for entry in logprobs["content"])
    tokens = logprobs.get("tokens") or []
    chances = logprobs.get("token_logprobs") or []
    tops = logprobs.get("top_logprobs") or [None] * len(tokens)
    return tuple(_of_text(*entry) for entry in zip(tokens, chances, tops, strict=False))


def _of_chat(entry: dict[str, Any]) -> TokenInfo:
    """``{token, logprob, bytes, top_logprobs}``: bytes are exact where a token is half a character."""
    top = [(UNKNOWN_ID, _bytes(t), float(t["logprob"])) for t in entry.get("top_logprobs") or ()]
    return TokenInfo(UNKNOWN_ID, _bytes(entry), float(entry["logprob"]), top)


def _bytes(entry: dict[str, Any]) -> bytes:
    given = entry.get("bytes")
    # Of a number bytes() would make so many zeros.
    return bytes(given) if isinstance(given, list) else str(entry["token"]).encode()


def _of_text(token: str, logprob: float | None, top: dict[str, float] | None) -> TokenInfo:
    alternatives = sorted((top or {}).items(), key=lambda item: -item[1])
    return TokenInfo(
        UNKNOWN_ID, token.encode(), logprob or 0.0, [(UNKNOWN_ID, t.encode(), p) for t, p in alternatives]
    )
