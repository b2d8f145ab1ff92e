"""Frames: is a stream's form sound, whatever it says? SSE, UTF-8, JSON and the end. Pure.

It refuses to know the vendors' contracts.
"""

from __future__ import annotations

import re

from app.client.dialects.dialect import json_object
from app.client.doctor.finding import Finding, error
from app.client.doctor.observations import Observations
from app.client.exchange import Exchange

_SSE = ("sse", "openai", "openai-text", "anthropic")
_OWN = ("ndjson", "sse", "websocket")
_LOST = "\ufffd"


def judge(seen: Observations) -> list[Finding]:
    """Findings of form."""
    findings = [*_characters(seen)]
    if seen.dialect in _SSE:
        findings += _events(seen.streamed)
    findings += _end(seen)
    return findings


def without_blank_lines(exchange: Exchange) -> bool:
    """Whether events run into one another because no blank line ends them."""
    lines = _lines(exchange.body)
    if sum(line.startswith(b"data:") for line in lines) < 2:
        return False
    whole = [frame for frame in exchange.frames if json_object(frame.data) is not None]
    return not whole or any(
        "\n" in frame.data and all(json_object(line) is not None for line in frame.data.split("\n")[:2])
        for frame in exchange.frames
    )


# Private


def _characters(seen: Observations) -> list[Finding]:
    streamed = seen.streamed
    try:
        streamed.body.decode()
    except UnicodeDecodeError as wrong:
        if streamed.end == "complete" or wrong.end < len(streamed.body) - 4:
            bad = streamed.body[wrong.start : wrong.end].hex(" ")
            return [error("broken-characters", f"The body is not UTF-8: bytes {bad} at {wrong.start}.")]
    lost = streamed.text.count(_LOST)
    deltas = streamed.deltas
    torn = sum(
        a.text.endswith(_LOST) and b.text.startswith(_LOST) for a, b in zip(deltas, deltas[1:], strict=False)
    )
    only_streamed = seen.whole is not None and seen.whole.error is None and _LOST not in seen.whole.text
    if lost and (torn or only_streamed):
        where = f"{torn} times at a border between two pieces" if torn else "and none in the whole answer"
        return [error("broken-characters", f"{lost} replacement characters (U+FFFD) in the text, {where}.")]
    return []


def _events(exchange: Exchange) -> list[Finding]:
    if without_blank_lines(exchange):
        count = sum(line.startswith(b"data:") for line in _lines(exchange.body))
        return [
            error(
                "sse-no-blank-line", f"{count} data lines, and {len(exchange.frames)} events: no blank lines."
            )
        ]
    findings = []
    if exchange.body and exchange.end != "stopped" and _unfinished(exchange.body):
        findings.append(error("sse-unfinished-event", "The last event is not ended by a blank line."))
    if any(not frame.data for frame in exchange.frames):
        findings.append(error("empty-event", "An event has empty data."))
    broken = [f for f in exchange.frames if f.data and f.data != "[DONE]" and json_object(f.data) is None]
    if broken:
        findings.append(
            error("invalid-json", f"{len(broken)} events hold no JSON object: {broken[0].data[:60]!r}.")
        )
    return findings


def _unfinished(body: bytes) -> bool:
    """Whether the body ends in the middle of an event that has data."""
    text = re.sub(rb"\r\n?", b"\n", body)
    _, _, rest = text.rpartition(b"\n\n")
    return any(line.startswith(b"data:") for line in rest.split(b"\n"))


def _end(seen: Observations) -> list[Finding]:
    streamed = seen.streamed
    findings = []
    failed = streamed.error is not None and _told_error(streamed)
    if failed:
        after = f"after {len(streamed.deltas)} pieces of text" if streamed.deltas else "instead of any text"
        findings.append(error("error-in-stream", f"The status was 200; then, {after}: {streamed.error}"))
    if seen.dialect in _OWN and streamed.error is None and streamed.finish_reason is None:
        findings.append(error("missing-done", "No done event came."))
    match streamed.end:
        case "cut":
            findings.append(
                error("cut-off", f"{streamed.error}, after {len(streamed.deltas)} pieces of text.")
            )
        case "lingering":
            code = "hangs-after-error" if failed else "never-ends"
            findings.append(error(code, "The last frame came, and then the connection stayed open, silent."))
        case "silent" | "overlong":
            code = "hangs-after-error" if failed else "goes-silent"
            waited_s = (streamed.ended_ns - streamed.sent_ns) / 1e9
            findings.append(
                error(code, f"The last byte came {waited_s:.1f} s after the question, then none.")
            )
    return findings


def _told_error(exchange: Exchange) -> bool:
    """Whether a frame of the stream was an error, in anybody's words."""
    for frame in exchange.frames:
        value = json_object(frame.data) if "error" in frame.data else None
        if value is not None and (value.get("error") or value.get("type") == "error"):
            return True
    return False


def _lines(body: bytes) -> list[bytes]:
    return re.split(rb"\r\n|\r|\n", body)
