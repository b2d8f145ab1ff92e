"""A reply is never lost: over plain HTTP, in two tabs, after an error, and where nothing may be stored."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Route, async_playwright, expect

from app.engine.script import spoken
from tests.browser.conftest import ARGUMENTS, NAMES
from tests.browser.rough_proxy import rough_proxy
from tests.browser.test_chat import (
    KEPT_SOCKETS,
    NO_SOCKETS,
    SHOWN,
    STORY,
    MortalEngine,
    Server,
    done,
    engine,
    opened,
    pace,
    ready,
    send,
    to_ms,
    until,
)
from tests.browser.test_conversations import Listening, finished, open_list, shown, stored
from tests.browser.test_numbers import open_check
from tests.browser.windows import another_window

pytestmark = pytest.mark.browser

WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
#: Lets a test cut responses, as a network does.
KEPT_RESPONSES = """
window.cuts = [];
const plain = window.fetch;
window.fetch = (address, options = {}) => {
  if (!String(address).includes("api/replies")) return plain(address, options);
  const cut = new AbortController();
  cuts.push(cut);
  const signal = AbortSignal.any([cut.signal, options.signal].filter(Boolean));
  return plain(address, { ...options, signal });
};
"""


async def over_http(page: Page) -> None:
    await page.add_init_script(NO_SOCKETS)
    await page.add_init_script(KEPT_RESPONSES)
    await page.reload()
    await ready(page)


async def test_over_http_a_second_chat_does_not_cut_off_the_first(server: Server, browser: Browser) -> None:
    running = server(engine(delay_ms=60))
    async with opened(browser, running.url, **WIDE) as page:
        await over_http(page)
        await send(page, "The long one")
        await until(page, "document.querySelector('.answer')?.textContent.length > 10")
        await page.get_by_role("button", name="New chat").click()
        await send(page, "Meanwhile")
        await finished(page)
        assert await shown(page).locator(".answer").text_content() == SHOWN
        await open_list(page)
        await page.locator(".entry-open", has_text="The long one").click()
        await finished(page)
        assert await shown(page).locator(".answer").text_content() == SHOWN
        # Neither was asked for again: each came in one response to its end.
        assert await page.evaluate("cuts.length") == 2
        assert await page.locator(".note:visible").count() == 0


async def test_over_http_a_response_that_breaks_goes_on_where_it_broke(
    server: Server, browser: Browser
) -> None:
    running = server(engine(delay_ms=60))
    async with opened(browser, running.url) as page:
        await over_http(page)
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 20")
        await page.evaluate("cuts[0].abort()")
        await done(page)
        assert await page.locator(".answer").text_content() == SHOWN
        assert sum(running.engine.made.values()) == len(spoken(STORY, 0))
        await expect(page.locator(".reply .note")).to_contain_text("lost and found again")


async def test_refused_websockets_cost_less_than_two_seconds_once_and_are_said(
    server: Server, browser: Browser
) -> None:
    running = server(engine(delay_ms=5))
    async with rough_proxy(running.port, refuses_sockets=True) as url:
        context = await browser.new_context()
        page = await context.new_page()
        await page.add_init_script(KEPT_SOCKETS)
        await page.add_init_script(CLOCKED)
        await page.goto(url)
        await ready(page)
        await expect(page.locator(".banner")).to_contain_text("Answers come over plain HTTP")
        assert await page.evaluate("connected_ms - began_ms") < 2000
        await send(page)
        await done(page)
        assert await page.locator(".answer").text_content() == SHOWN
        await page.reload()
        await ready(page)
        await expect(page.locator(".banner")).to_contain_text("Answers come over plain HTTP")
        assert await page.evaluate("sockets.length") == 0
        await context.close()


#: When the page's own scripts began, and when it had a way to the server.
CLOCKED = """
document.addEventListener("DOMContentLoaded", () => {
  window.began_ms = performance.now();
  new MutationObserver(() => {
    if (document.body.dataset.connection === "open") window.connected_ms ??= performance.now();
  }).observe(document.body, { attributes: true });
});
"""


@pytest.mark.parametrize("wire", ["socket", "http"])
async def test_silence_while_the_model_reads_is_no_dead_link_not_even_to_a_proxy(
    server: Server, browser: Browser, wire: str
) -> None:
    """A proxy hangs up after a second of silence; the heartbeat comes in a third of that."""
    script = [(b"Read", 3500.0), (b" at last.", 5.0)]
    running = server(Listening(script), heartbeat_s=0.3)
    async with (
        rough_proxy(running.port, refuses_sockets=wire == "http", idle_s=1.0) as url,
        rough_page(browser, url) as page,
    ):
        await send(page)
        await expect(page.locator("[data-part=phase]")).to_have_text("the model is reading your message")
        await done(page)
        assert await page.locator(".answer").text_content() == "Read at last."
        assert await page.locator(".note:visible").count() == 0
        if wire == "socket":
            assert await page.evaluate("sockets.length") == 1
        assert len(running.engine.prompts) == 1


@asynccontextmanager
async def rough_page(browser: Browser, url: str) -> AsyncIterator[Page]:
    """The page behind a rough network, whose complaints about it are no fault."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.add_init_script(KEPT_SOCKETS)
    await page.goto(url)
    await ready(page)
    yield page
    await context.close()


async def test_a_network_that_makes_clumps_is_seen_in_the_gaps_the_strip_and_the_check(
    server: Server, browser: Browser
) -> None:
    running = server(engine("word " * 60, 20))
    async with rough_proxy(running.port, clump_s=0.2) as url, rough_page(browser, url) as page:
        await send(page)
        await done(page)
        words = await page.locator(".answer").text_content() or ""
        assert words.split() == ["word"] * 60
        drawn = await page.locator(".reply .strip .ticks").get_attribute("d") or ""
        places = [float(place) for place in re.findall(r"M([\d.]+)", drawn)]
        groups = 1 + sum(later - earlier > 20 for earlier, later in pairwise(places))
        assert 4 <= groups <= 12, "sixty words at seven moments or so"
        gaps = await page.locator("[data-number=gaps] .value").text_content() or ""
        assert to_ms(gaps.split(", ")[1].removesuffix(" longest")) >= 150
        check = await open_check(page)
        await expect(check.get_by_role("status")).to_have_text(re.compile("^(Only in clumps|No)"))


async def test_a_part_of_the_page_that_does_not_come_costs_neither_the_question_nor_the_chat(
    server: Server, browser: Browser
) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.route("**/js/chat/session.js", lambda route: route.abort())
    await page.goto(server(engine("Yes.", 1)).url)
    await ready(page)
    field, notice = page.get_by_label("Your message"), page.locator(".notice")
    await field.fill("Why is the sky blue?")
    await field.press("Enter")
    await expect(notice).to_contain_text("could not be fetched")
    await expect(field).to_have_value("Why is the sky blue?")
    await page.unroute("**/js/chat/session.js")
    await field.press("Enter")
    await done(page)
    await expect(notice).to_be_hidden()
    # A page that has to bring a chat back is ready without it too, and goes on with it later.
    await page.route("**/js/chat/session.js", lambda route: route.abort())
    await page.route("**/js/components/help_sheet.js", lambda route: route.abort())
    await page.reload()
    await ready(page)
    await expect(notice).to_contain_text("could not be fetched")
    await notice.get_by_role("button", name="Close").click()
    await page.get_by_role("button", name="Keys and help").click()
    await expect(notice).to_contain_text("could not be fetched")
    await page.unroute_all()
    await page.get_by_role("button", name="Conversations", exact=True).click()
    await expect(page.locator(".entry-open")).to_have_count(1)
    await expect(page.locator(".turn")).to_have_count(1)
    await page.get_by_role("button", name="Keys and help").click()
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    await context.close()


async def test_a_second_question_sent_before_the_page_can_ask_the_first_stays_in_the_field(
    server: Server, browser: Browser
) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    comes = asyncio.Event()

    async def late(route: Route) -> None:
        await comes.wait()
        await route.continue_()

    await page.route("**/js/chat/session.js", late)
    await page.goto(server(engine(delay_ms=60)).url)
    await ready(page)
    field = page.get_by_label("Your message")
    for text in ("One?", "Two?"):
        await field.fill(text)
        await field.press("Enter")
        await expect(field).to_have_value("")
    comes.set()
    await expect(field).to_have_value("Two?")
    await done(page)
    await expect(page.locator("[data-part=question]")).to_have_text("One?")
    await context.close()


async def test_a_double_click_and_a_resend_ask_once(server: Server, browser: Browser) -> None:
    heard = Listening(spoken(STORY, 30))
    async with opened(browser, server(heard).url) as page:
        await page.add_init_script(KEPT_SOCKETS)
        await page.reload()
        await ready(page)
        await page.get_by_label("Your message").fill("Once?")
        await page.wait_for_selector("body[data-talk=ready]")
        # Two clicks in one task; then the connection is lost before an answer can have come.
        await page.evaluate(
            "(() => { const button = document.querySelector('[data-part=send]');"
            " button.click(); button.click(); sockets.at(-1).close(); })()"
        )
        await done(page)
        assert await page.locator(".turn").count() == 1
        assert await page.locator(".answer").text_content() == SHOWN
        assert await page.evaluate("sockets.length") == 2
        assert len(heard.prompts) == 1


async def test_a_resumed_reply_can_be_stopped_from_another_tab(server: Server, browser: Browser) -> None:
    running = server(engine(STORY * 20, 40))
    async with opened(browser, running.url) as first:
        await send(first)
        await until(first, "document.querySelector('.answer')?.textContent.length > 20")
        await first.reload()
        await ready(first)
        second = await read_along(first)
        await second.get_by_role("button", name="Stop").click()
        await finished(second, "stopped")
        await finished(first, "stopped")
        made = sum(running.engine.made.values())
        await first.evaluate("new Promise((go) => setTimeout(go, 300))")
        assert sum(running.engine.made.values()) == made < len(spoken(STORY, 0)) * 20
        text = await shown(first).locator(".answer").text_content()
        assert text and len(text) > 20
        await expect(shown(first).locator(".note")).to_contain_text("Stopped by you")
        await expect(first.get_by_role("button", name="Send")).to_be_visible()


async def read_along(first: Page) -> Page:
    """Another tab on the same chat, in which a reply is on its way."""
    await until(first, "document.querySelector('.answer')?.textContent.length > 30")
    second = await another_window(first)
    await second.goto(first.url)
    await ready(second)
    await open_list(second)
    await second.locator(".entry-open").click()
    await expect(shown(second).last).to_have_attribute("data-state", "reading", timeout=20_000)
    return second


async def test_a_tab_that_reads_along_says_that_and_not_that_it_was_loaded_anew(
    server: Server, browser: Browser
) -> None:
    scripted = engine(STORY * 3, 120)
    async with opened(browser, server(scripted).url) as first:
        await send(first)
        second = await read_along(first)
        note = shown(second).last.locator(".note")
        await expect(note).to_contain_text("Another page asked for this reply")
        await expect(note).not_to_contain_text("loaded anew")
        await second.reload()
        await ready(second)
        await expect(note).to_contain_text("loaded anew")
        pace(scripted, 5)
        await finished(first)
        # Over is over: then both show the times of the page that saw all of it.
        await expect(note).to_be_hidden(timeout=20_000)


async def test_after_an_error_a_reply_is_continued_where_it_was_interrupted(
    server: Server, browser: Browser
) -> None:
    mortal = MortalListening(spoken(STORY, 50))
    async with opened(browser, server(mortal).url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 20")
        mortal.crash()
        await finished(page, "failed")
        kept = await shown(page).locator(".answer").text_content() or ""
        await page.get_by_role("button", name="Continue").click()
        # The model is not back yet: the wish waits for it, and what was there is on the page.
        assert await shown(page).locator(".answer").text_content() == kept
        mortal.come_back()
        await finished(page)
        prompt = mortal.prompts[-1]
        assert prompt.continue_last is True
        assert [message.role for message in prompt.messages] == ["user", "assistant"]
        replies = (await stored(page))[0]["turns"][0]["replies"]
        assert prompt.messages[-1].content == replies[0]["text"]
        assert replies[1]["text"] == replies[0]["text"] + STORY  # The script begins anew each time.
        await expect(page.get_by_text("Version 2 of 2")).to_be_visible()
        await expect(shown(page).get_by_role("alert")).to_be_hidden()
        assert (await shown(page).locator(".answer").text_content() or "").startswith(kept.rstrip())


class MortalListening(MortalEngine, Listening):
    """Dies on demand, and keeps the prompts that it was asked."""


#: What browsers do whose owners forbid storing.
NO_STORAGE = """
const refuse = () => { throw new DOMException("refused", "SecurityError"); };
for (const name of ["localStorage", "sessionStorage", "indexedDB"]) {
  Object.defineProperty(window, name, { get: refuse });
}
window.BroadcastChannel = class { constructor() { refuse(); } };
"""


async def test_where_nothing_may_be_stored_everything_else_works_and_it_is_said_once(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=5)).url, **WIDE) as page:
        await page.add_init_script(NO_STORAGE)
        await page.reload()
        await ready(page)
        await page.evaluate(
            "window.said = 0; new MutationObserver(() => (said += 1)).observe("
            "document.querySelector('[data-part=banner-text]'), {childList: true, subtree: true})"
        )
        await page.get_by_label("Look").select_option("dark")
        for number in range(2):
            await send(page, f"Question {number}")
            await done(page, number=number)
        await expect(page.locator(".banner")).to_contain_text("does not let the page save the conversation")
        assert await page.evaluate("said") == 1
        await open_list(page)
        await expect(page.locator("[data-part=drawer-note]")).to_contain_text("SecurityError")
        await page.get_by_role("button", name="Ask again").last.click()
        await expect(page.get_by_text("Version 2 of 2")).to_be_visible()
        await page.get_by_role("button", name="New chat").click()
        await expect(page.locator(".turn")).to_have_count(0)
        await send(page, "And in a new one")
        await done(page)


async def test_the_page_goes_on_after_the_back_button(server: Server) -> None:
    path = next(found for name in NAMES if (found := shutil.which(name)))
    running = server(engine(STORY, 60))
    async with async_playwright() as playwright:
        # Playwright turns the back-forward cache off. With it the page comes back as it was, its socket dead.
        browser = await playwright.chromium.launch(
            executable_path=path,
            args=[*ARGUMENTS],
            ignore_default_args=["--disable-back-forward-cache"],
        )
        async with rough_page(browser, running.url) as page:
            await send(page)
            await until(page, "document.querySelector('.answer')?.textContent.length > 20")
            await page.goto(f"{running.url}/healthz")
            await page.go_back(wait_until="commit")
            await ready(page)
            await done(page)
            assert await page.locator(".answer").text_content() == SHOWN
            assert sum(running.engine.made.values()) == len(spoken(STORY, 0))
            await send(page, "And now?")
            await done(page, number=1)
            assert await page.locator(".answer").nth(1).text_content() == SHOWN
        await browser.close()
