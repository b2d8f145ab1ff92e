"""The language of the pages: chosen by hand or by the browser, kept, spoken by all, and open to everybody."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.test_access import AXE, PHONE, THEMES, nobody_complains
from tests.browser.test_chat import STORY, Server, done, engine, opened, ready

pytestmark = pytest.mark.browser

PAGES = ["/", "/compare", "/teach", "/join", "/learn", "/lab", "/lab/proxy"]
LOCALES = {"en": "en-GB", "hi": "hi-IN"}
#: Latin letters are no sign of English (names, keys), but letters of Hindi are one of Hindi.
HAS_HINDI = "/[\\u0900-\\u097f]/.test(document.querySelector('main').innerText)"


async def choose(page: Page, language: str) -> None:
    async with page.expect_navigation():
        await page.locator("[data-part=language]").select_option(language)
    await ready(page)


async def test_a_choice_is_kept_by_all_pages_and_keeps_the_conversation(
    server: Server, browser: Browser
) -> None:
    running = server(engine(STORY, 5))
    async with opened(browser, running.url, locale="en-GB") as page:
        root = page.locator("html")
        await expect(root).to_have_attribute("lang", "en")
        await page.get_by_label("Your message").fill("Why is the sky blue?")
        await page.wait_for_selector("body[data-talk=ready]")
        await page.keyboard.press("Enter")
        await done(page)
        await choose(page, "hi")
        await expect(root).to_have_attribute("lang", "hi")
        await expect(page.get_by_role("button", name="भेजिए")).to_be_visible()
        await expect(page.locator(".answer")).to_contain_text("That is all.")
        await expect(page.get_by_role("navigation", name="पन्ने")).to_contain_text("प्रयोगशाला")
        # The server writes the lesson's text, and learns of the choice by the cookie.
        await page.goto(f"{running.url}/learn")
        await ready(page)
        await expect(page.locator(".lesson")).to_contain_text("मुंशी")
        await expect(page).to_have_title("पाठ · Firstword")
        await choose(page, "en")
        await expect(page.locator(".lesson")).not_to_contain_text("मुंशी")
        await page.goto(f"{running.url}/lab")
        await ready(page)
        await expect(root).to_have_attribute("lang", "en")


async def test_a_choice_by_hand_wins_over_the_language_in_a_link(server: Server, browser: Browser) -> None:
    running = server(engine(delay_ms=1))
    async with opened(browser, running.url, locale="en-GB") as page:
        await page.goto(f"{running.url}/learn?lang=hi")
        await ready(page)
        await expect(page.locator("html")).to_have_attribute("lang", "hi")
        await choose(page, "en")
        await expect(page.locator("html")).to_have_attribute("lang", "en")
        assert page.url == f"{running.url}/learn"


@pytest.mark.parametrize("language", LOCALES)
async def test_every_page_speaks_the_browsers_language_to_everybody_in_every_look(
    server: Server, browser: Browser, language: str
) -> None:
    running = server(engine(delay_ms=1))
    async with opened(browser, running.url, locale=LOCALES[language]) as page:
        await page.add_init_script(path=AXE)
        for path in PAGES:
            await page.goto(running.url + path)
            await ready(page)
            await expect(page.locator("html")).to_have_attribute("lang", language)
            assert bool(await page.evaluate(HAS_HINDI)) is (language == "hi" or path == "/"), path
            await nobody_complains(page, path, THEMES)


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize(
    "device", [PHONE, {"viewport": {"width": 1024, "height": 768}}], ids=["phone", "projector"]
)
async def test_the_top_line_fits_and_every_place_in_it_can_be_reached(
    server: Server, browser: Browser, device: dict[str, Any], language: str
) -> None:
    running = server(engine(delay_ms=1))
    async with opened(browser, running.url, locale=LOCALES[language], **device) as page:
        if "is_mobile" not in device:
            await page.evaluate("document.documentElement.dataset.theme = 'projector'")
        wide = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1]
        for link in await page.locator(".places a").all():
            await link.focus()
            box = await link.bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= wide[1]
            assert box["height"] < 60, "on one line"
