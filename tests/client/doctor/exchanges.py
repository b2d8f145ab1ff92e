"""Exchanges written down by hand, for diagnoses without a server."""

from __future__ import annotations

import json
from typing import Any

from app.client.exchange import Delta, End, Exchange, Frame, Head, Read
from app.upstream.sse_parser import SseParser

MS = 1_000_000
HEADERS = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}


def head(status: int = 200, version: str = "1.1", at_ms: float = 1.0, **headers: str) -> Head:
    named = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
    return Head(status, version, tuple(named.items()), int(at_ms * MS))


_HEALTHY = head()


def streamed(
    *bursts: tuple[float, list[str]],
    end: End = "complete",
    error: str | None = None,
    head: Head | None = None,
    wire_bytes: int | None = None,
) -> Exchange:
    """At each time (ms since sent) a read with these pieces of text, each of 200 bytes on the wire."""
    deltas = tuple(Delta(int(at_ms * MS), text) for at_ms, pieces in bursts for text in pieces)
    reads = tuple(
        Read(int(at_ms * MS), b"x", wire_bytes or 200 * len(pieces), len(pieces)) for at_ms, pieces in bursts
    )
    ended_ns = int((bursts[-1][0] if bursts else 0) * MS)
    return Exchange(
        0,
        0,
        0,
        ended_ns,
        True,
        end,
        head or _HEALTHY,
        reads,
        deltas=deltas,
        finish_reason="stop",
        error=error,
    )


def steady(num: int = 40, first_ms: float = 50, step_ms: float = 20, **more: Any) -> Exchange:
    """A healthy stream."""
    return streamed(*((first_ms + n * step_ms, ["word "]) for n in range(num)), **more)


def whole(total_ms: float, text: str = "word " * 40) -> Exchange:
    delta = Delta(int(total_ms * MS), text)
    return Exchange(0, 0, 0, delta.at_ns, False, "complete", head(), deltas=(delta,))


def sse(*events: Any, end: End = "complete", error: str | None = None, raw: bytes | None = None) -> Exchange:
    """A stream of these events: JSON, text as it is, or (name, JSON); 10 ms apart, text like OpenAI's."""
    frames, reads, deltas = [], [], []
    parser = SseParser()
    for number, event in enumerate(events):
        name, value = event if isinstance(event, tuple) else ("", event)
        data = value if isinstance(value, str) else json.dumps(value)
        line = f"event: {name}\n" if name else ""
        body = f"{line}data: {data}\n\n".encode()
        at_ns = (number + 1) * 10 * MS
        reads.append(Read(at_ns, body, len(body), 1))
        frames += [Frame(at_ns, e.type if e.type != "message" else "", e.data) for e in parser.feed(body)]
        text = _text(value)
        if text:
            deltas.append(Delta(at_ns, text))
    if raw is not None:
        reads = [Read(10 * MS, raw, len(raw), 1)]
        frames = [Frame(10 * MS, "", event.data) for event in SseParser().feed(raw)]
    at_ns = len(events) * 10 * MS
    return Exchange(
        0, 0, 0, at_ns, True, end, head(), tuple(reads), tuple(frames), tuple(deltas), error=error
    )


def refusal(status: int, body: Any) -> Exchange:
    frame = Frame(0, "", body if isinstance(body, str) else json.dumps(body))
    return Exchange(0, 0, 0, 0, True, "complete", head(status), frames=(frame,), error=f"HTTP {status}")


# Private


def _text(value: Any) -> str:
    if isinstance(value, dict) and value.get("choices"):
        choice = value["choices"][0]
        return (choice.get("delta") or {}).get("content") or choice.get("text") or ""
    if isinstance(value, dict):
        return (value.get("delta") or {}).get("text") or ""
    return ""
