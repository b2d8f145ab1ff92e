"""Scrolling while text comes: who is at the end stays there, and nobody is moved who reads."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.test_chat import Server, done, engine, opened, pace, ready, send, until
from tests.browser.test_conversations import open_list

pytestmark = pytest.mark.browser

LONG = "\n\n".join(f"Paragraph {number} of a long answer." for number in range(60))
SMALL: dict[str, Any] = {"viewport": {"width": 900, "height": 600}}
#: How far the end of the conversation lies below what is seen, and what is seen of the newest answer.
PLACE = """(() => {
  const scroller = document.querySelector(".scroller");
  const view = scroller.getBoundingClientRect();
  const answer = [...document.querySelectorAll(".answer")].filter((e) => e.checkVisibility()).at(-1);
  const text = answer.getBoundingClientRect();
  return {
    top: scroller.scrollTop,
    below: scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop,
    seen: Math.min(text.bottom, view.bottom) - Math.max(text.top, view.top),
    line: parseFloat(getComputedStyle(answer).lineHeight),
    beginning: text.top - view.top,
  };
})()"""


async def place(page: Page) -> dict[str, float]:
    """Where the reader is, after the next frame."""
    await page.evaluate("new Promise((go) => requestAnimationFrame(() => setTimeout(go, 20)))")
    found: dict[str, float] = await page.evaluate(PLACE)
    return found


async def more_text(page: Page) -> None:
    """Wait until the answer has grown by some lines."""
    count = await page.locator(".answer p").count()
    await until(page, f"document.querySelectorAll('.answer p').length > {count + 3}")


async def test_what_grows_or_shrinks_around_the_text_does_not_count_as_scrolling(
    server: Server, browser: Browser
) -> None:
    scripted = engine(LONG, 1)
    async with opened(browser, server(scripted).url, **SMALL) as page:
        await send(page)
        await done(page)
        pace(scripted, 15)
        await page.get_by_text("Where the time went").click()
        await expect(page.locator(".waterfall")).to_be_visible(timeout=20_000)
        await send(page, "Once more")
        await until(page, "document.querySelectorAll('.answer p').length > 80")
        box = page.get_by_label("Your message")
        await box.fill("one\ntwo\nthree\nfour\nfive\nsix")  # The composer grows,
        await more_text(page)
        assert (await place(page))["below"] <= 3
        await box.fill("")  # and shrinks;
        await page.evaluate("document.querySelector('details.deeper').open = false")  # a block collapses;
        await more_text(page)
        assert (await place(page))["below"] <= 3
        await page.set_viewport_size({"width": 700, "height": 480})  # the window changes.
        await more_text(page)
        assert (await place(page))["below"] <= 3
        await expect(page.get_by_role("button", name="New lines below")).to_be_hidden()


async def test_a_reply_that_comes_in_one_chat_does_not_move_another(server: Server, browser: Browser) -> None:
    scripted = engine(LONG, 1)
    async with opened(browser, server(scripted).url, **SMALL) as page:
        await send(page, "The other one")
        await done(page)
        pace(scripted, 15)
        await page.get_by_role("button", name="New chat").click()
        await send(page, "The one that streams")
        await until(page, "document.querySelectorAll('.answer p').length > 5")
        await open_list(page)
        await page.locator(".entry-open", has_text="The other one").click()
        await expect(page.locator("[data-part=question]")).to_have_text("The other one")
        scroller = page.locator(".scroller")
        await scroller.evaluate("s => { s.scrollTop = 500; }")
        before = await place(page)
        assert before["top"] == 500
        await until(page, "document.querySelector('.entry-open')")
        await page.evaluate("new Promise((go) => setTimeout(go, 400))")
        assert (await place(page))["top"] == 500


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768)], ids=["1280", "1024"])
async def test_on_a_projector_the_lines_that_are_being_written_are_in_view(
    server: Server, browser: Browser, size: tuple[int, int]
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    async with opened(browser, server(engine(LONG, 15)).url, viewport=viewport) as page:
        await page.evaluate("localStorage.setItem('firstword.theme', 'projector')")
        await page.reload()
        await ready(page)
        await send(page)
        await until(page, "document.querySelectorAll('.answer p').length > 12")
        during = await place(page)
        assert during["seen"] >= 3 * during["line"]
        keys = page.locator(".keys")
        lines = await keys.evaluate("e => e.clientHeight / parseFloat(getComputedStyle(e).lineHeight)")
        assert lines < 2.5


async def test_the_end_of_a_long_reply_moves_nobody_and_that_of_a_short_one_shows_all(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(LONG, 8)).url, **SMALL) as page:
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.includes('Paragraph 58')")
        await done(page)
        await expect(page.locator(".deeper")).to_be_visible()
        after = await place(page)
        assert after["below"] > 10, "what came below the text has not pushed it up"
        assert after["seen"] > 3 * after["line"]
        await page.get_by_role("button", name="New chat").click()
        # Who goes to the end is followed again.
        await send(page, "Short")
        await until(page, "document.querySelector('.answer')?.textContent.length > 10")
        assert (await place(page))["below"] <= 3
    async with opened(browser, server(engine("A short answer.", 8)).url, **SMALL) as page:
        await send(page)
        await done(page)
        assert (await place(page))["below"] <= 3


async def test_an_answer_that_comes_all_at_once_is_read_from_its_beginning(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(LONG, 5)).url, **SMALL) as page:
        await page.get_by_role("radio", name="All at once").check()
        for number in range(2):
            await send(page, f"Question {number}")
            await expect(page.locator(".waiting").nth(number)).to_be_in_viewport(ratio=1)
            await done(page, number=number)
            seen = await place(page)
            assert 0 <= seen["beginning"] < 300
            await expect(page.get_by_role("button", name="New lines below")).to_be_visible()


async def test_the_page_itself_never_scrolls_however_long_the_conversation(
    server: Server, browser: Browser
) -> None:
    """What is there for screen readers only must not lie below the page: a wheel over the head found it."""
    async with opened(browser, server(engine(LONG, 1)).url, **SMALL) as page:
        for number in range(3):
            await send(page)
            await done(page, number=number)
        assert await page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
