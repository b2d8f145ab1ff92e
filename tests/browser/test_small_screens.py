"""Small screens: what a finger presses is 44 px, and beside an open keyboard there is room to read."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.browser.test_access import PHONE
from tests.browser.test_chat import Server, engine, opened, ready

pytestmark = pytest.mark.browser

LEAST_PX = 44
#: What is pressed and smaller than a finger; links within a sentence are text.
SMALL = f"""() => [...document.querySelectorAll("main :is(button, select, summary, label:has(input), a)")]
  .filter((e) => e.checkVisibility() && !(e.matches("a") && e.closest("p, li")))
  .map((e) => [e.textContent.trim().slice(0, 30), e.getBoundingClientRect()])
  .filter(([, box]) => box.height < {LEAST_PX} - 0.5 || box.width < {LEAST_PX} - 0.5)
  .map(([text, box]) => `${{text}}: ${{Math.round(box.width)}} x ${{Math.round(box.height)}}`)"""

#: How wide the other pages' links are, and how high the top line is: one line, or one of their own below it.
TOP = "[document.querySelector('.places').offsetWidth, document.querySelector('.top').offsetHeight]"


@pytest.mark.parametrize("language", ["en-GB", "hi-IN"])
async def test_everything_on_a_phone_is_large_enough_for_a_finger(
    server: Server, browser: Browser, language: str
) -> None:
    running = server(engine(delay_ms=1))
    async with opened(browser, running.url, locale=language, **PHONE) as page:
        for path in ("/learn", "/lab/obvious", "/lab/proxy", "/join"):
            await page.goto(running.url + path)
            await ready(page)
            assert await page.evaluate(SMALL) == [], path


@pytest.mark.parametrize("language", ["en-GB", "hi-IN"])
async def test_the_top_line_breaks_only_before_the_other_pages_links(
    server: Server, browser: Browser, language: str
) -> None:
    running = server(engine(delay_ms=1))
    async with opened(browser, running.url, locale=language, **PHONE) as page:
        for width in range(680, 1100, 20):
            await page.set_viewport_size({"width": width, "height": 800})
            places, top = await page.evaluate(TOP)
            assert top < 80 or places > 0.9 * width, f"{width} px: {top} high, links {places} wide"


async def test_beside_an_open_keyboard_the_other_pages_links_give_way_until_the_writing_is_over(
    server: Server, browser: Browser
) -> None:
    running = server(engine(delay_ms=1))
    async with opened(browser, running.url, **PHONE) as page:
        places, prompt = page.locator(".places"), page.locator("[data-part=prompt]")
        await prompt.focus()
        await expect(places).to_be_visible()
        await page.set_viewport_size({"width": 390, "height": 420})
        await expect(places).to_be_hidden()
        await prompt.blur()
        await expect(places).to_be_visible()
        # A phone that lies on its side is as low without a keyboard.
        await page.set_viewport_size({"width": 844, "height": 390})
        await prompt.focus()
        await expect(places).to_be_visible()
