"""The doctor before real sockets: broken servers with exactly their findings, healthy ones with none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from app.client.connection import Patience
from app.client.detection import settled
from app.client.dialects.dialect import Question
from app.client.doctor.diagnosis import diagnose
from app.client.doctor.examination import examine
from app.client.doctor.finding import Diagnosis
from app.client.target import read_target
from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.broken_servers import catalogue as servers
from tests.broken_servers.wire import Answer, serving
from tests.broken_servers.words import SENTENCE

#: Longer than any of these servers is silent while it is well, on a busy machine, too.
PATIENCE = Patience(silence_s=5.0, tail_s=0.3, total_s=30.0)


async def examined(
    url: str, dialect: str | None = None, max_tokens: int = 60, patience: Patience = PATIENCE
) -> Diagnosis:
    target, question = await settled(read_target(url, dialect), Question("Sing.", max_tokens))
    return diagnose(await examine(target, question, patience))


def codes(diagnosis: Diagnosis) -> set[str]:
    assert len({finding.code for finding in diagnosis.findings}) == len(diagnosis.findings)
    assert all(finding.what and finding.fix for finding in diagnosis.findings)
    return {finding.code for finding in diagnosis.findings}


BROKEN: list[tuple[str, Answer, bool | None, set[str]]] = [
    ("buffers everything", servers.openai(servers.buffers_everything), False, {"buffers-everything"}),
    ("gzip that buffers", servers.openai(servers.gzip_buffers), False, {"compression-buffers"}),
    ("flushes at 4 KiB", servers.openai(servers.flushes_4_kib), True, {"flushes-by-size"}),
    ("HTTP/1.0", servers.openai(servers.http_1_0), True, {"http-1.0"}),
    ("fake streaming", servers.openai(servers.fake_streaming), False, {"fake-streaming"}),
    ("content-length", servers.openai(servers.content_length), False, {"content-length"}),
    ("one chunk", servers.openai(servers.one_chunk), False, {"one-chunk"}),
    ("plain text at once", servers.plain(at_once=True), False, {"one-chunk"}),
    ("splits characters", servers.openai(servers.splits_characters), True, {"broken-characters"}),
    (
        "no blank lines, wrong type",
        servers.openai(servers.no_blank_lines),
        None,
        {"sse-no-blank-line", "wrong-content-type"},
    ),
    ("missing [DONE]", servers.openai(servers.missing_done), True, {"missing-done"}),
    ("never ends", servers.openai(servers.never_ends), True, {"never-ends"}),
    ("cut off", servers.openai(servers.cuts_off), True, {"cut-off"}),
    (
        "sloppy OpenAI",
        servers.openai(servers.sloppy_openai),
        True,
        {
            "early-role-chunk",
            "repeated-role",
            "missing-finish-reason",
            "missing-usage",
            "sse-id",
            "wrong-object",
            "cacheable",
        },
    ),
    ("wrong request is 200", servers.refuses_with(200, {"ok": True}), True, {"error-as-200"}),
    ("wrong request is 500", servers.refuses_with(500, {"error": "x"}), True, {"error-as-500"}),
    ("refusal in another shape", servers.refuses_with(422, {"detail": []}), True, {"error-shape"}),
    ("Anthropic without names", servers.anthropic(names=False), True, {"missing-event-name"}),
    ("Anthropic without a block", servers.anthropic(without=("content_block_start",)), True, {"event-order"}),
    ("Anthropic without an end", servers.anthropic(without=("message_stop",)), True, {"missing-done"}),
    (
        "Anthropic without usage, other errors",
        servers.anthropic(usage=False, shaped=False),
        True,
        {"missing-usage", "error-shape"},
    ),
]


async def test_a_broken_server_gets_exactly_its_findings() -> None:
    # A few at once: an examination mostly waits, but it also looks at the times between arrivals.
    room = asyncio.Semaphore(4)

    async def found(answer: Answer) -> tuple[bool | None, set[str]]:
        async with room, serving(answer) as url:
            diagnosis = await examined(url)
        return diagnosis.streams, codes(diagnosis)

    all_found = await asyncio.gather(*(found(answer) for _, answer, _, _ in BROKEN))
    by_name = dict(zip((name for name, *_ in BROKEN), all_found, strict=True))
    assert by_name == {name: (streams, expected) for name, _, streams, expected in BROKEN}


async def test_an_error_followed_by_silence_is_told_apart_from_mere_silence() -> None:
    async with serving(servers.openai(servers.error_then_silence)) as url:
        diagnosis = await examined(url, patience=Patience(silence_s=1.5))
    assert codes(diagnosis) == {"error-in-stream", "hangs-after-error"}


async def test_irregular_clumps_are_a_warning() -> None:
    async with serving(servers.plain(portions=(16, 42, 20, 50))) as url:
        diagnosis = await examined(url, max_tokens=190)
    assert codes(diagnosis) == {"arrives-in-clumps"}
    assert diagnosis.streams is True


async def test_a_proxy_that_flushes_by_the_clock_is_found_by_its_beat() -> None:
    async with serving(servers.openai(servers.flushes_by_the_clock)) as url:
        diagnosis = await examined(url, max_tokens=170)
    assert codes(diagnosis) == {"flushes-by-time"}


@pytest.mark.parametrize(
    "server", [servers.one_at_a_time, servers.counting], ids=["one at a time", "counting"]
)
async def test_a_server_that_goes_on_generating_for_nobody_is_found(server: Any) -> None:
    async with serving(server(stops=False)) as url:
        # Long enough that it still goes on when a busy machine comes to look.
        diagnosis = await examined(url, max_tokens=120)
    assert codes(diagnosis) == {"keeps-generating"}


@pytest.mark.parametrize(
    "server", [servers.one_at_a_time, servers.counting], ids=["one at a time", "counting"]
)
async def test_a_server_that_stops_is_believed(server: Any) -> None:
    async with serving(server(stops=True)) as url:
        diagnosis = await examined(url)
    assert codes(diagnosis) == set()
    assert any(note.startswith("A disconnect stops the generation") for note in diagnosis.notes)


async def test_what_cannot_be_known_is_said() -> None:
    async with serving(servers.openai(servers.healthy)) as url:
        diagnosis = await examined(url)
    assert codes(diagnosis) == set()
    assert diagnosis.streams is True
    assert any("cannot be known from outside" in note for note in diagnosis.notes)


async def test_a_recognised_proxy_is_named_first_in_the_fix() -> None:
    async with serving(servers.openai(servers.flushes_4_kib)) as url:
        findings = (await examined(url)).findings
    (finding,) = [each for each in findings if each.code == "flushes-by-size"]
    assert "nginx" in finding.what
    assert "proxy_buffering off" in finding.fix
    assert "Caddy" not in finding.fix


@pytest.mark.parametrize("answer", [servers.anthropic(), servers.plain()], ids=["Anthropic", "plain text"])
async def test_healthy_servers_of_other_contracts_get_no_finding(answer: Answer) -> None:
    async with serving(answer) as url:
        diagnosis = await examined(url)
    assert (codes(diagnosis), diagnosis.streams) == (set(), True)


@pytest.mark.parametrize(
    "dialect", ["ndjson", "sse", "websocket", "openai", "openai-text", "anthropic", "plain"]
)
async def test_firstword_gets_no_finding_over_any_wire(serve: Any, dialect: str) -> None:
    running = await serve(ScriptedEngine(spoken(SENTENCE * 8, 8)))
    diagnosis = await examined(running.url, dialect)
    assert (codes(diagnosis), diagnosis.streams) == (set(), True)
