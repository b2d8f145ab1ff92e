"""Diagnosis: observations in, findings out. Pure, and the one place that knows all parts."""

from __future__ import annotations

from app.client.doctor import contract_anthropic, contract_openai, delivery, frames, headers, leaving
from app.client.doctor.finding import Diagnosis, Finding
from app.client.doctor.observations import Observations


def diagnose(seen: Observations) -> Diagnosis:
    """Everything that is wrong, gravest first, each code once."""
    delivered = delivery.judge(seen)
    findings = [*delivered.findings, *headers.judge(seen), *frames.judge(seen), *_contract(seen)]
    notes = [*delivered.notes, *headers.hints(seen)]
    if seen.leaving is not None:
        more, told = leaving.judge(seen.leaving)
        findings += more
        notes += told
    elif seen.leaving_note is not None:
        notes.append(seen.leaving_note)
    unique = list({finding.code: finding for finding in reversed(findings)}.values())[::-1]
    unique.sort(key=lambda finding: finding.severity != "error")
    return Diagnosis(delivered.streams, unique, notes)


# Private


def _contract(seen: Observations) -> list[Finding]:
    match seen.dialect:
        case "openai" | "openai-text":
            findings = contract_openai.judge(seen.streamed, seen.dialect)
            return findings + (contract_openai.judge_refusal(seen.refusal) if seen.refusal else [])
        case "anthropic":
            findings = contract_anthropic.judge(seen.streamed)
            return findings + (contract_anthropic.judge_refusal(seen.refusal) if seen.refusal else [])
    return []
