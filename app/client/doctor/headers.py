"""Headers: what the head of a streamed answer promises or spoils. Pure.

Headers that merely are not there are hints, no findings: many good servers stand behind nothing.
"""

from __future__ import annotations

import re

from app.client.doctor.finding import Finding, error, warning
from app.client.doctor.observations import Observations

#: What each dialect's streamed answers may call themselves.
_TYPES = {
    "sse": ("text/event-stream",),
    "openai": ("text/event-stream",),
    "openai-text": ("text/event-stream",),
    "anthropic": ("text/event-stream",),
    "ndjson": ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/stream+json"),
    "plain": ("text/",),
}


def judge(seen: Observations) -> list[Finding]:
    """Findings of the head."""
    head = seen.streamed.head
    if head is None or seen.dialect not in _TYPES:
        return []
    findings = []
    media_type = (head.get("content-type") or "").lower()
    if not media_type.startswith(_TYPES[seen.dialect]):
        wanted = " or ".join(_TYPES[seen.dialect])
        shown = media_type or "missing"
        findings.append(error("wrong-content-type", f"The content type is {shown}; it should be {wanted}."))
    caching = head.get("cache-control") or ""
    if re.search(r"\bpublic\b|\bmax-age=[1-9]", caching):
        findings.append(warning("cacheable", f"Cache-Control is {caching}."))
    if (head.get("x-accel-buffering") or "").lower() == "yes":
        findings.append(error("asks-for-buffering", "X-Accel-Buffering is yes."))
    if head.version == "1.0":
        findings.append(
            warning(
                "http-1.0",
                "The server answers with HTTP/1.0, without chunks; the end is a closed connection.",
            )
        )
    return findings


def hints(seen: Observations) -> list[str]:
    """What is not wrong here and may be elsewhere."""
    head = seen.streamed.head
    if head is None or seen.dialect not in _TYPES:
        return []
    notes = []
    if head.get("x-accel-buffering") is None:
        notes.append(
            "X-Accel-Buffering: no is not sent: an nginx in between buffers unless it is told not to."
        )
    if "no-transform" not in (head.get("cache-control") or ""):
        notes.append("Cache-Control has no no-transform: proxies are free to compress, and so to collect.")
    return notes
