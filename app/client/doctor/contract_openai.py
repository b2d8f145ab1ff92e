"""OpenAI's contract: is each promise kept that its SDKs and their users build on? Pure.

Tail checks are left out when the stream failed or was cut: that is a finding of its own.
"""

from __future__ import annotations

from typing import Any

from app.client.dialects.dialect import error_message, json_object, part_of
from app.client.dialects.openai import LAST
from app.client.doctor.finding import Finding, error, warning
from app.client.doctor.frames import without_blank_lines
from app.client.exchange import Exchange

#: A role this long before the first text was not sent with it.
_EARLY_MS, _EARLY_SHARE = 30.0, 0.1
_OBJECTS = {"openai": "chat.completion.chunk", "openai-text": "text_completion"}


def judge(streamed: Exchange, dialect: str) -> list[Finding]:
    """Findings of a streamed answer."""
    if without_blank_lines(streamed):
        return []  # there are no events to judge
    chunks = [
        (frame.at_ns, chunk) for frame in streamed.frames if (chunk := json_object(frame.data)) is not None
    ]
    findings = _head(streamed, [chunk for _, chunk in chunks], dialect)
    if dialect == "openai":
        findings += _roles(streamed, chunks)
    if streamed.error is None and streamed.end not in ("cut", "stopped"):
        findings += _tail(streamed, [chunk for _, chunk in chunks])
    return findings


def judge_refusal(refusal: Exchange) -> list[Finding]:
    """Findings of the answer to a wrong request."""
    status = refusal.head.status if refusal.head is not None else 0
    return refused(status, refusal, lambda body: isinstance(part_of(body, "error", "message"), str))


def refused(status: int, refusal: Exchange, well_shaped: Any) -> list[Finding]:
    """What both vendors' contracts say of refusals: a 4xx status and an error object."""
    if status == 200:
        said = refusal.text[:80] or (refusal.error or "")[:80]
        return [error("error-as-200", f"A request without valid messages was answered 200: {said!r}.")]
    if status >= 500:
        return [warning("error-as-500", f"A request without valid messages was answered {status}.")]
    body = json_object(refusal.frames[0].data if refusal.frames else "")
    if 400 <= status < 500 and not well_shaped(body):
        said = error_message(body) or (refusal.frames[0].data[:80] if refusal.frames else "nothing")
        return [warning("error-shape", f"A wrong request was answered {status} in another shape: {said!r}.")]
    return []


# Private


def _head(streamed: Exchange, chunks: list[dict[str, Any]], dialect: str) -> list[Finding]:
    findings = []
    if any(line.startswith(b"id:") for line in streamed.body.splitlines()):
        findings.append(warning("sse-id", "Events have id lines."))
    objects = {chunk.get("object") for chunk in chunks if "error" not in chunk}
    wrong = objects - {_OBJECTS[dialect]}
    if wrong:
        findings.append(
            warning("wrong-object", f"object is {sorted(map(str, wrong))[0]!r}, not {_OBJECTS[dialect]!r}.")
        )
    return findings


def _roles(streamed: Exchange, chunks: list[tuple[int, dict[str, Any]]]) -> list[Finding]:
    roles = [at_ns for at_ns, chunk in chunks if part_of(chunk, "choices", 0, "delta", "role")]
    findings = []
    if len(roles) > 1:
        findings.append(warning("repeated-role", f"{len(roles)} chunks have a role."))
    if roles and streamed.deltas:
        first_ms = (streamed.deltas[0].at_ns - streamed.sent_ns) / 1e6
        early_ms = (streamed.deltas[0].at_ns - roles[0]) / 1e6
        if early_ms > max(_EARLY_MS, _EARLY_SHARE * first_ms):
            what = (
                f"The role came {early_ms:.0f} ms before the first text, which came after {first_ms:.0f} ms."
            )
            findings.append(warning("early-role-chunk", what))
    return findings


def _tail(streamed: Exchange, chunks: list[dict[str, Any]]) -> list[Finding]:
    findings = []
    if not any(frame.data.strip() == LAST for frame in streamed.frames):
        findings.append(error("missing-done", f"{len(streamed.frames)} events, and none is [DONE]."))
    reasons = [chunk for chunk in chunks if part_of(chunk, "choices", 0, "finish_reason")]
    if not reasons:
        findings.append(error("missing-finish-reason", "No chunk has a finish_reason."))
    elif len(reasons) > 1:
        findings.append(warning("repeated-finish-reason", f"{len(reasons)} chunks have a finish_reason."))
    usages = [chunk for chunk in chunks if isinstance(chunk.get("usage"), dict)]
    if not usages:
        findings.append(warning("missing-usage", "Usage was asked for, and no chunk has it."))
    elif all(chunk.get("choices") for chunk in usages):
        findings.append(warning("usage-beside-choices", "Usage came in a chunk that has choices, too."))
    return findings
