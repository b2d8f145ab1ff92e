"""The page at an address where nothing is, in a real Chromium."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from tests.browser.test_access import AXE, violations
from tests.browser.test_chat import Server, engine, ready

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("locale", "title"), [("en-US", "Nothing here · Firstword"), ("hi-IN", "यहाँ कुछ नहीं · Firstword")]
)
async def test_whoever_is_lost_is_told_so_and_finds_the_way_back(
    server: Server, browser: Browser, locale: str, title: str
) -> None:
    context = await browser.new_context(locale=locale)
    page = await context.new_page()
    await page.add_init_script(path=AXE)
    await page.goto(f"{server(engine()).url}/nowhere")
    await ready(page)
    assert await page.title() == title
    assert await violations(page) == []
    await page.locator("main .main").click()
    await ready(page)
    assert await page.locator("[data-part=prompt]").is_visible()
    await context.close()
