"""The HTML report: whole, self-contained, and safe with anybody's text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from app.client.exchange import Delta, Exchange, Usage
from app.client.measurement import measured
from app.client.report import Setting, render
from app.client.strip_svg import strip_svg
from app.timeline.arrivals import Arrival

SETTING = Setting(
    "http://h/<b>", "plain chunked text", "m<i>", "<script>alert(1)</script>", "3 questions", "now", "1"
)


def exchange(streamed: bool = True, error: str | None = None) -> Exchange:
    texts = ("one ", "two ", "three") if streamed else ("one two three",)
    deltas = tuple(Delta(int((n + 1) * 2e8), text) for n, text in enumerate(texts))
    return Exchange(0, 0, 1, 10**9, streamed, "complete", deltas=deltas, usage=Usage(1, 3), error=error)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_the_report_needs_nothing_else_and_runs_nothing() -> None:
    page = render(measured([exchange(), exchange(False)]), SETTING)
    tags = Tags()
    tags.feed(page)
    assert not [tag for tag, _ in tags.seen if tag in ("script", "link", "img", "iframe", "object")]
    assert not [attrs for _, attrs in tags.seen if {"src", "href"} & set(attrs)]
    assert not re.search(r"url\((?!#)|@import", page)
    assert "<b>" not in page
    assert "<i>" not in page
    assert sum(tag == "svg" for tag, _ in tags.seen) == 3


def test_the_report_says_what_failed_and_what_is_left_out() -> None:
    page = render(measured([exchange() for _ in range(45)] + [exchange(error="no <memory>")]), SETTING)
    assert "no &lt;memory&gt;" in page
    assert "The first 40 are shown, 5 are not." in page


def test_the_report_says_what_has_to_be_known_to_read_it() -> None:
    page = render(measured([exchange()]), SETTING, ["A server that <caches> answers warm."])
    assert "<li>A server that &lt;caches&gt; answers warm.</li>" in page


def test_a_report_without_any_good_reply_is_a_report() -> None:
    assert "no memory" in render(measured([exchange(error="no memory")]), SETTING)


def test_the_strip_has_one_tick_for_each_arrival_inside_its_frame() -> None:
    arrivals = [Arrival(100.0 * n, 1, n) for n in range(1, 11)]
    svg = str(strip_svg(arrivals, end_ms=1000, axis_ms=1000, label='a "quoted" <label>'))
    ticks = re.findall(r"M([\d.]+) 60V([\d.]+)", svg)
    assert len(ticks) == 10
    assert all(0 <= float(x) <= 800 and 0 <= float(y) <= 60 for x, y in ticks)
    assert [float(y) for _, y in ticks] == sorted((float(y) for _, y in ticks), reverse=True)
    assert "<label>" not in svg
