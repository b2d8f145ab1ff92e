"""How text arrived, as a table: hand-made arrivals and the one finding each of them is."""

from __future__ import annotations

import pytest

from app.client.doctor.delivery import all_at_once, judge
from app.client.doctor.observations import Observations
from app.client.doctor.rhythm import regular, rhythm_of
from tests.client.doctor.exchanges import head, steady, streamed, whole

WORDS = ["word "] * 40


def clumps(*times: float, each: int = 10) -> list[tuple[float, list[str]]]:
    return [(at_ms, ["word "] * each) for at_ms in times]


TABLE: list[tuple[str, Observations, bool | None, list[str]]] = [
    ("steady", Observations("openai", steady()), True, []),
    ("steady, long prefill", Observations("openai", steady(first_ms=5000, step_ms=2)), True, []),
    (
        "steady behind a long prefill, as long as the whole",
        Observations(
            "openai",
            steady(first_ms=5000),
            short=steady(num=5, first_ms=5000),
            whole=whole(5800),
        ),
        True,
        [],
    ),
    ("steady, cold short reply", Observations("plain", steady(), short=steady(5, first_ms=900)), True, []),
    (
        "two tokens a piece, three together",
        Observations("openai", streamed(*clumps(*range(50, 1050, 50), each=3))),
        True,
        [],
    ),
    ("all at the end", Observations("openai", streamed((900, WORDS))), False, ["buffers-everything"]),
    (
        "all but one at the end",
        Observations("openai", streamed((9, ["a "]), (900, WORDS))),
        False,
        ["buffers-everything"],
    ),
    (
        "all at the end, in three reads close together",
        Observations("openai", streamed((900, WORDS[:20]), (902.5, WORDS[:10]), (905, WORDS[:10]))),
        False,
        ["buffers-everything"],
    ),
    (
        "compressed and kept, streams without",
        Observations(
            "openai", streamed((900, WORDS), head=head(content_encoding="gzip")), uncompressed=steady()
        ),
        False,
        ["compression-buffers"],
    ),
    (
        "compressed and kept, and kept without compression, too",
        Observations(
            "openai",
            streamed((900, WORDS), head=head(content_encoding="gzip")),
            uncompressed=streamed((900, WORDS)),
        ),
        False,
        ["buffers-everything"],
    ),
    (
        "announced length",
        Observations("openai", streamed((900, WORDS), head=head(content_length="8000"))),
        False,
        ["content-length"],
    ),
    (
        "Firstword, whose ticks are kept, too",
        Observations("ndjson", streamed((900, WORDS)), probe=streamed((600, WORDS))),
        False,
        ["buffered-on-the-way"],
    ),
    (
        "Firstword, whose ticks come evenly",
        Observations("ndjson", streamed((900, WORDS)), probe=steady(12, step_ms=50)),
        False,
        ["buffers-everything"],
    ),
    (
        "generated first, then dealt out",
        Observations(
            "openai", steady(first_ms=900, step_ms=5), short=steady(5, first_ms=150), whole=whole(900)
        ),
        False,
        ["fake-streaming"],
    ),
    (
        "generated first, where length cannot be asked for",
        Observations(
            "openai", steady(first_ms=900, step_ms=5), short=steady(40, first_ms=900), whole=whole(905)
        ),
        False,
        ["fake-streaming"],
    ),
    (
        "generated first, plain text without a twin",
        Observations("plain", steady(first_ms=900, step_ms=5), short=steady(5, first_ms=150)),
        False,
        ["fake-streaming"],
    ),
    ("by size", Observations("openai", streamed(*clumps(400, 800, 1200, 1600))), True, ["flushes-by-size"]),
    (
        "by time",
        Observations(
            "openai",
            streamed(
                *[(t, ["w "] * n) for t, n in ((1000, 9), (2003, 14), (2999, 12), (4001, 7), (4500, 3))]
            ),
        ),
        True,
        ["flushes-by-time"],
    ),
    (
        "irregular",
        Observations(
            "openai",
            streamed(*[(t, ["w "] * n) for t, n in ((300, 9), (500, 14), (1400, 22), (1700, 7), (2900, 13))]),
        ),
        True,
        ["arrives-in-clumps"],
    ),
    ("too short", Observations("openai", streamed((50, ["a"]), (900, ["b"]))), None, []),
    ("too fast", Observations("openai", streamed((20, WORDS))), None, []),
    ("nothing", Observations("openai", streamed()), None, []),
]


@pytest.mark.parametrize(
    ("seen", "streams", "codes"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_arrivals_are_judged(seen: Observations, streams: bool | None, codes: list[str]) -> None:
    delivery = judge(seen)
    assert [finding.code for finding in delivery.findings] == codes
    assert delivery.streams is streams
    assert streams is not None or delivery.notes


def test_one_chunk_is_told_from_many_that_came_together() -> None:
    exchange = streamed((900, ["word " * 40]))
    assert [finding.code for finding in judge(Observations("plain", exchange)).findings] == ["one-chunk"]


def test_findings_carry_the_numbers_that_were_seen() -> None:
    (finding,) = judge(Observations("openai", streamed(*clumps(400, 800, 1200, 1600)))).findings
    assert "2000 bytes" in finding.what
    assert "400 ms" in finding.what


def test_reads_closer_than_any_token_are_one_burst() -> None:
    rhythm = rhythm_of(streamed((10, ["a", "b"]), (10.9, ["c"]), (20, ["d"])))
    assert [(burst.pieces, burst.wire_bytes) for burst in rhythm.bursts] == [(3, 600), (1, 200)]


def test_a_fast_model_behind_a_long_wait_is_not_taken_for_a_buffer() -> None:
    assert not all_at_once(steady(num=60, first_ms=8000, step_ms=2))
    assert all_at_once(streamed((8000, WORDS)))


@pytest.mark.parametrize(
    ("values", "beat"),
    [
        ([100, 101, 99], 100),
        ([100, 200, 100, 100, 100], 100),
        ([100, 150, 100, 250], None),
        ([100], None),
        ([], None),
        ([0, 0, 0], None),
    ],
)
def test_a_beat_may_be_missed_but_not_bent(values: list[float], beat: float | None) -> None:
    assert regular(values, 0.1) == beat
