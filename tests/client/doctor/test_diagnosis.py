"""Headers, proxies, counts, leaving, and all of it together."""

from __future__ import annotations

import pytest

from app.client.doctor import headers, leaving, meter, proxies
from app.client.doctor.diagnosis import diagnose
from app.client.doctor.finding import error, warning
from app.client.doctor.fixes import FIXES
from app.client.doctor.observations import Leaving, Observations
from app.client.exchange import Head
from tests.client.doctor.exchanges import head, steady, streamed


@pytest.mark.parametrize(
    ("dialect", "seen", "codes"),
    [
        ("openai", head(), []),
        ("openai", head(content_type="text/event-stream; charset=utf-8"), []),
        ("openai", head(content_type="application/json"), ["wrong-content-type"]),
        ("ndjson", head(content_type="application/x-ndjson"), []),
        ("ndjson", head(), ["wrong-content-type"]),
        ("plain", head(content_type="text/plain"), []),
        ("plain", head(content_type="application/octet-stream"), ["wrong-content-type"]),
        ("websocket", head(), []),
        ("openai", head(cache_control="public"), ["cacheable"]),
        ("openai", head(cache_control="max-age=60"), ["cacheable"]),
        ("openai", head(cache_control="no-cache, max-age=0"), []),
        ("openai", head(x_accel_buffering="yes"), ["asks-for-buffering"]),
        ("openai", head(version="1.0"), ["http-1.0"]),
    ],
)
def test_heads_are_judged(dialect: str, seen: Head, codes: list[str]) -> None:
    found = headers.judge(Observations(dialect, steady(head=seen)))
    assert [finding.code for finding in found] == codes


def test_missing_headers_are_hints_and_no_findings() -> None:
    assert len(headers.hints(Observations("openai", steady()))) == 2
    well = head(x_accel_buffering="no", cache_control="no-cache, no-transform")
    assert headers.hints(Observations("openai", steady(head=well))) == []


@pytest.mark.parametrize(
    ("seen", "names"),
    [
        (head(server="nginx/1.22"), ["nginx"]),
        (head(via="1.1 Caddy"), ["Caddy"]),
        (head(server="cloudflare", cf_ray="1"), ["Cloudflare"]),
        (head(server="Apache/2", via="1.1 varnish"), ["Apache", "Varnish"]),
        (head(server="uvicorn"), []),
        (None, []),
    ],
)
def test_proxies_are_known_by_their_marks(seen: Head | None, names: list[str]) -> None:
    assert proxies.recognised(seen) == names


def test_an_unknown_proxy_gets_every_recipe_and_a_known_one_its_own() -> None:
    assert "Caddy" in proxies.fix_on_the_way("buffers-everything", head())
    assert "nginx" in proxies.fix_on_the_way("buffers-everything", head())
    assert "Caddy" not in proxies.fix_on_the_way("flushes-by-size", head(server="nginx"))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("firstword_running 2.0\n", 2.0),
        ('vllm:num_requests_running{engine="0"} 1.0\nvllm:num_requests_running{engine="1"} 2.0\n', 3.0),
        ("# TYPE firstword_running gauge\nfirstword_running 0\n", 0.0),
        ("llamacpp:requests_processing 1\n", 1.0),
        ("firstword_running_seconds 4\n", None),
        ("", None),
    ],
)
def test_the_count_of_running_generations_is_read(text: str, count: float | None) -> None:
    assert meter.running(text) == count


@pytest.mark.parametrize(
    ("seen", "code", "said"),
    [
        (Leaving(2000, counted=True, stopped_ms=40), None, "stops the generation (after 40 ms)"),
        (Leaving(2000, counted=True), "keeps-generating", None),
        (Leaving(2000, alone_ms=100, after_ms=2000), "keeps-generating", None),
        (Leaving(2000, alone_ms=100, after_ms=120, beside_ms=1900), None, "does not wait for it"),
        (Leaving(2000, alone_ms=100, after_ms=120, beside_ms=130), None, "cannot be known"),
        (Leaving(2000, alone_ms=100, after_ms=None), None, "could not be tried"),
        (Leaving(100, counted=True), None, "over too soon"),
    ],
)
def test_what_became_of_a_left_generation_is_judged(
    seen: Leaving, code: str | None, said: str | None
) -> None:
    findings, notes = leaving.judge(seen)
    assert [finding.code for finding in findings] == ([code] if code else [])
    assert said is None or said in notes[0]


def test_the_gravest_comes_first_and_no_code_twice() -> None:
    seen = Observations("openai", streamed((900, ["w "] * 40), head=head(version="1.0", content_type="x/y")))
    diagnosis = diagnose(seen)
    severities = [finding.severity for finding in diagnosis.findings]
    assert severities == sorted(severities, key=lambda severity: severity != "error")
    assert len({finding.code for finding in diagnosis.findings}) == len(diagnosis.findings)
    assert diagnosis.streams is False


@pytest.mark.parametrize("code", list(FIXES))
def test_every_code_has_a_fix_in_whole_sentences(code: str) -> None:
    fix = error(code, "seen").fix
    assert fix[0].isupper() or fix.startswith("After")
    assert fix.rstrip(")")[-1] in ".`'"
    assert warning(code, "seen").severity == "warning"
