"""Anthropic's contract: names, order and contents of the events. Pure.

Tail checks are left out when the stream failed or was cut: that is a finding of its own.
"""

from __future__ import annotations

from typing import Any

from app.client.dialects.dialect import json_object, part_of
from app.client.doctor.contract_openai import refused
from app.client.doctor.finding import Finding, error, warning
from app.client.doctor.frames import without_blank_lines
from app.client.exchange import Exchange, Frame

#: state -> event -> next state; pings may come anywhere behind the start.
_ORDER: dict[str, dict[str, str]] = {
    "begin": {"message_start": "message"},
    "message": {"content_block_start": "block", "message_delta": "closing"},
    "block": {"content_block_delta": "block", "content_block_stop": "message"},
    "closing": {"message_delta": "closing", "message_stop": "end"},
    "end": {},
}


def judge(streamed: Exchange) -> list[Finding]:
    """Findings of a streamed message."""
    if without_blank_lines(streamed):
        return []  # there are no events to judge
    events = [(frame, event) for frame in streamed.frames if (event := json_object(frame.data)) is not None]
    findings = _names(events)
    types = [str(event.get("type")) for _, event in events]
    broken_off = streamed.error is not None or streamed.end in ("cut", "stopped")
    findings += _order(types, broken_off)
    starts = [event for _, event in events if event.get("type") == "message_start"]
    if starts and not isinstance(part_of(starts[0], "message", "usage"), dict):
        findings.append(error("missing-usage", "message_start has no message.usage; the SDK needs it."))
    if not broken_off:
        findings += _tail([event for _, event in events])
    return findings


def judge_refusal(refusal: Exchange) -> list[Finding]:
    """Findings of the answer to a wrong request."""
    status = refusal.head.status if refusal.head is not None else 0

    def well_shaped(body: dict[str, Any] | None) -> bool:
        return part_of(body, "type") == "error" and isinstance(part_of(body, "error", "message"), str)

    return refused(status, refusal, well_shaped)


# Private


def _names(events: list[tuple[Frame, dict[str, Any]]]) -> list[Finding]:
    nameless = sum(not frame.name for frame, _ in events)
    if nameless:
        return [error("missing-event-name", f"{nameless} of {len(events)} events have no event line.")]
    for frame, event in events:
        if frame.name != event.get("type"):
            what = f"An event called {frame.name!r} has the type {event.get('type')!r}."
            return [error("event-name-mismatch", what)]
    return []


def _order(types: list[str], broken_off: bool) -> list[Finding]:
    state = "begin"
    for number, kind in enumerate(types):
        if kind == "error" or (kind == "ping" and state != "begin"):
            continue
        following = _ORDER[state].get(kind)
        if following is None:
            before = types[number - 1] if number else "the beginning"
            return [error("event-order", f"{kind} came behind {before}.")]
        state = following
    return [error("missing-done", "No message_stop came.")] if state != "end" and not broken_off else []


def _tail(events: list[dict[str, Any]]) -> list[Finding]:
    deltas = [event for event in events if event.get("type") == "message_delta"]
    findings = []
    if not any(part_of(event, "delta", "stop_reason") for event in deltas):
        findings.append(error("missing-stop-reason", "No message_delta has a stop_reason."))
    if deltas and not any(isinstance(part_of(event, "usage", "output_tokens"), int) for event in deltas):
        findings.append(warning("missing-usage", "message_delta has no usage.output_tokens."))
    return findings
