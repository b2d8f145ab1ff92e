"""The first question of a fresh browser: what it needs is ready, and nobody meets the rehearsal."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Response

from tests.browser.test_chat import NO_SOCKETS, Server, done, engine, opened, ready, send
from tests.browser.test_weight import TRACED, weights

pytestmark = pytest.mark.browser

#: Without the rehearsal 250 to 300; with it 100, and on a busy machine, where timers come between, 170.
MOST_COMPILED = 210
#: Marks the press and the first text in an answer.
MARKS = """() => {
  addEventListener("keydown", () => performance.mark("press"), { capture: true });
  new MutationObserver(() => {
    if (document.querySelector(".answer")?.textContent) performance.mark("word");
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
#: What a frame, a screen reader or another script could have met of a turn, and what was sent.
WATCH_QUIET = """
window.met = 0;
const look = () => { met += document.querySelectorAll(".turn").length; requestAnimationFrame(look); };
requestAnimationFrame(look);
window.sent = [];
const Plain = WebSocket;
window.WebSocket = class extends Plain { send(frame) { sent.push(frame); super.send(frame); } };
"""
KEPT = """async () => {
  const open = indexedDB.open("firstword");
  const database = await new Promise((go) => { open.onsuccess = () => go(open.result); });
  const all = database.transaction("conversations").objectStore("conversations").count();
  return await new Promise((go) => { all.onsuccess = () => go(all.result); });
}"""


async def rehearsed(page: Page) -> None:
    await page.wait_for_selector("body[data-rehearsed]", state="attached")


async def test_the_first_answer_compiles_little_between_enter_and_its_first_word(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine()).url) as page:
        await rehearsed(page)
        await page.get_by_label("Your message").fill("Why is the sky blue?")
        await page.evaluate(MARKS)
        await browser.start_tracing(page=page, categories=[*TRACED, "disabled-by-default-v8.compile"])
        await page.keyboard.press("Enter")
        await done(page)
        trace = await browser.stop_tracing()
    count = compiled(trace)
    assert 0 < count < MOST_COMPILED


def compiled(trace: bytes) -> int:
    """Functions that the page's main thread compiled between the press and the first word."""
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    marks = Counter((e["pid"], e["tid"]) for e in events if e["name"] in ("press", "word"))
    main = marks.most_common(1)[0][0]
    own = [e for e in events if (e.get("pid"), e.get("tid")) == main]
    press = min(e["ts"] for e in own if e["name"] == "press")
    word = min(e["ts"] for e in own if e["name"] == "word")
    return sum(e["name"] == "V8.CompileCode" and press <= e["ts"] <= word for e in own)


async def test_the_rehearsal_is_seen_sent_and_kept_by_nobody(server: Server, browser: Browser) -> None:
    running = server(engine(delay_ms=1))
    async with opened(browser, running.url) as page:
        await page.add_init_script(WATCH_QUIET)
        await page.reload()
        await ready(page)
        await rehearsed(page)
        assert await page.evaluate("met") == 0
        assert await page.evaluate("sent") == []
        assert await page.evaluate(KEPT) == 0
        assert not running.engine.made
        await send(page)
        await done(page)
        assert await page.locator(".reply").count() == 1


async def test_who_asks_before_the_rehearsal_is_over_gets_the_answer_all_the_same(
    server: Server, browser: Browser
) -> None:
    never_idle = "window.requestIdleCallback = (tell) => setTimeout(tell, 100);"
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        await page.add_init_script(never_idle)
        await page.reload()
        await ready(page)
        await send(page)
        assert await page.locator("body[data-rehearsed]").count() == 0
        await done(page)
        await rehearsed(page)
        assert await page.locator(".reply").count() == 1
        assert await page.locator(".answer").count() == 1


async def test_the_code_for_plain_http_is_fetched_only_where_websockets_are_refused(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        assert "/static/js/stream/http_wire.js" not in await fetched(page)
        await page.add_init_script(NO_SOCKETS)
        assert "/static/js/stream/http_wire.js" in await fetched(page)


async def fetched(page: Page) -> set[str]:
    """Paths that a load of the page and one answer fetch."""
    responses: list[Response] = []

    def hear(response: Response) -> None:
        responses.append(response)

    page.on("response", hear)
    await page.reload()
    await ready(page)
    await send(page)
    await done(page)
    page.remove_listener("response", hear)
    return set(await weights(responses))
