"""The page keeps up with the model: what has arrived is painted by the next frame, however busy all is.

Counted in frames, not in milliseconds: a busy machine makes frames rare, and that is not the page's fault.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.test_chat import Server, done, opened, ready, send

pytestmark = pytest.mark.browser

#: Notes [frame, milliseconds, characters] of everything that arrives and of everything that is painted.
WATCHED = """
window.arrived = [];
window.painted = [];
let frame = 0;
let heard = 0;
const next = () => { frame += 1; requestAnimationFrame(next); };
requestAnimationFrame(next);
const Plain = WebSocket;
window.WebSocket = class extends Plain {
  constructor(url) {
    super(url);
    this.addEventListener("message", ({ data }) => {
      const event = JSON.parse(data);
      if (event.type === "started") { heard = 0; arrived.length = 0; painted.length = 0; }
      if (event.type === "delta") arrived.push([frame, performance.now(), (heard += event.text.length)]);
    });
  }
};
document.addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  const answer = [...document.querySelectorAll(".answer")].at(-1);
  if (answer) painted.push([frame, performance.now(), answer.textContent.length]);
}).observe(document.body, { subtree: true, childList: true, characterData: true }));
"""


async def behind(page: Page) -> list[tuple[int, float]]:
    """For every arrival, how many frames and how many milliseconds later it was painted."""
    arrived: list[list[float]] = await page.evaluate("arrived")
    painted: list[list[float]] = await page.evaluate("painted")
    lags = []
    at = 0
    for frame, came_ms, chars in arrived:
        # A space at the end of a paragraph is no text that could be seen.
        while painted[at][2] < chars - 1:
            at += 1
        lags.append((int(painted[at][0] - frame), painted[at][1] - came_ms))
    return lags


async def test_at_200_tokens_a_second_on_a_slow_phone_every_frame_shows_all_that_has_come(
    server: Server, browser: Browser
) -> None:
    running = server(ScriptedEngine(spoken("word " * 600, 5)))
    async with opened(browser, running.url) as page:
        await page.add_init_script(WATCHED)
        await page.reload()
        await ready(page)
        await page.get_by_label("Your message").fill("Fast, please")
        await page.wait_for_selector("body[data-talk=ready]")
        session: Any = await page.context.new_cdp_session(page)
        await session.send("Emulation.setCPUThrottlingRate", {"rate": 6})
        await page.keyboard.press("Enter")
        await done(page)
        lags = await behind(page)
        assert len(lags) > 300
        assert max(frames for frames, _ in lags) <= 1


async def test_behind_a_message_of_40_000_characters_the_stream_is_on_time_and_touches_nothing_else(
    server: Server, browser: Browser
) -> None:
    running = server(ScriptedEngine(spoken("word " * 150, 10), context_tokens=50_000))
    async with opened(browser, running.url) as page:
        await page.add_init_script(WATCHED)
        await page.reload()
        await ready(page)
        await send(page, "letters " * 5000)
        await done(page)
        # The last word's time is told after the frame that paints it, which on a busy machine is late.
        await page.evaluate(
            "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go))))"
        )
        await page.evaluate(
            "window.touched = 0; new MutationObserver((all) => (touched += all.length))"
            ".observe(document.querySelector('.turn'), {subtree: true, childList: true, characterData: true})"
        )
        await send(page, "And now?")
        await done(page, number=1)
        lags = await behind(page)
        assert len(lags) > 100
        assert max(frames for frames, _ in lags) <= 1
        assert median(ms for _, ms in lags) < 100
        assert await page.evaluate("touched") == 0
