"""F06 and F07: the page behind a line that is cut without a word, and behind bad Wi-Fi."""

from __future__ import annotations

import hashlib
import re
import time
from functools import partial

from playwright.async_api import Page

from drill.case import Finding, Scale
from drill.network import CUT, GOOD, HERE, Quality, line
from drill.page import answer, ask, page_beyond, shows
from drill.served import served, within

_LOST = "The connection is lost"
#: What the page notes in its tab once it has found that WebSockets are refused.
_NO_SOCKETS = 'sessionStorage.setItem("firstword.wire", "http")'
_BAD_WIFI = Quality(delay_ms=300, jitter_ms=100, lost=0.03, kbit_s=256)
#: Both clocks are rounded, and a packet's way through this program takes a moment.
_ROUGHLY_MS = 10.0


async def half_open(scale: Scale, *, sockets: bool = True) -> Finding:
    """F06: all packets are dropped in mid-reply, and let through again when the server has let go."""
    # It ends while nobody hears it, within what may be unread: what a reader sleeps through is F01.
    script: list[list[object]] = [[f"word{number} ", 60.0] for number in range(80)]
    async with (
        line() as way,
        served(host=HERE, script_tokens=script) as server,
        page_beyond(way, server.url) as page,
    ):
        if not sockets:
            await page.evaluate(_NO_SOCKETS)
            await page.reload()
            await page.wait_for_selector("body[data-state=ready]")
        await ask(page)
        await _read_some(page, "word30")
        way.quality = CUT
        cut_s = time.monotonic()
        said = await shows(page, _LOST, 30)
        said_s = time.monotonic() - cut_s
        # The last packet to the page was a piece of the reply; others are idle HTTP connections.
        port = way.there.passed[-1].ports[1]
        freed = await within(60, lambda: not server.holds(port))
        freed_s = time.monotonic() - cut_s
        way.quality = GOOD
        back_s = time.monotonic()
        whole = await _is_whole(page, script, 30)
        resumed_s = time.monotonic() - back_s
    return Finding(
        f"the page said so after {said_s:.0f} s, the server let go of the socket after {freed_s:.0f} s, "
        f"the rest came {resumed_s:.1f} s after the line: same text {whole}",
        said and said_s <= 25 and freed and freed_s <= 45 and whole,
    )


half_open_over_http = partial(half_open, sockets=False)


async def bad_wifi(scale: Scale) -> Finding:
    """F07: late, lossy and narrow; the page gets the same text and says where its first word's time went."""
    script: list[list[object]] = [["word0 ", 500.0], *([f"word{number} ", 50.0] for number in range(1, 60))]
    async with (
        line() as way,
        served(host=HERE, script_tokens=script) as server,
        page_beyond(way, server.url) as page,
    ):
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        way.quality = _BAD_WIFI
        lost = way.there.num_lost + way.back.num_lost
        # The page's clock and this program's are one, but for where they begin.
        offset_ms = time.monotonic() * 1e3 - float(await page.evaluate("performance.now()"))
        await ask(page)
        whole = await _is_whole(page, script, 60)
        lost = way.there.num_lost + way.back.num_lost - lost
        pressed_ms = offset_ms + float(await page.evaluate("window.pressed_ms"))
        # The first packet that left after the key and is more than an acknowledgement: the question.
        true_ms = next(
            packet.out_s * 1e3
            for packet in way.back.passed
            if packet.size > 200 and packet.in_s * 1e3 >= pressed_ms
        )
        stages, error_ms = await _stages(page)
        banner = await page.locator("[data-part=banner]").is_visible()
    asked_ms = true_ms - pressed_ms
    there_ms = stages["In this page"] + stages["To the server"]
    model_ms = stages["Reading your message, and the first token"]
    return Finding(
        f"same text {whole} (SHA-256), {lost} packets lost, errors shown: {banner or complaints}; to the "
        f"server {there_ms:.0f} ± {error_ms:.0f} ms shown, {asked_ms:.0f} true; "
        f"model {model_ms:.0f} shown, 500 true",
        whole and lost > 0 and not banner and not complaints
        and abs(there_ms - asked_ms) <= error_ms + _ROUGHLY_MS and abs(model_ms - 500) <= _ROUGHLY_MS,
    )  # fmt: skip


# Private


async def _read_some(page: Page, word: str) -> None:
    await page.locator(".answer", has_text=word).wait_for()


async def _is_whole(page: Page, script: list[list[object]], seconds: float) -> bool:
    """Whether the reply ends in time with exactly this text."""
    await page.locator(".reply[data-state=done]").wait_for(timeout=seconds * 1000)
    reference = "".join(str(text) for text, _ in script).strip()
    return _digest((await answer(page)).strip()) == _digest(reference)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def _stages(page: Page) -> tuple[dict[str, float], float]:
    """The waterfall's stages in milliseconds by name, and its clock error, as they are shown."""
    await page.get_by_text("Where the time went").click()
    await page.locator(".waterfall").wait_for()
    found = {}
    for row in await page.locator(".stages tbody tr").all():
        name = re.sub(r"^\d+", "", str(await row.locator("th").text_content())).strip()
        found[name] = _ms(str(await row.locator(".stage-time").inner_text()).partition("±")[0])
    told = str(await page.locator(".waterfall .deeper-small").text_content())
    error = re.search(r"[\d.]+\s*m?s\b", told)
    assert error, told
    return found, _ms(error[0])


def _ms(shown: str) -> float:
    match = re.fullmatch(r"([−-]?)([\d.]+)\s*(m?s)", shown.strip())
    assert match, shown
    sign, number, unit = match.groups()
    return float(number) * (1000 if unit == "s" else 1) * (-1 if sign else 1)
