"""Page: a page in a Chromium at the far end of a line, as its reader meets it.

It refuses to know what becomes of the line.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, async_playwright
from playwright.async_api import TimeoutError as PlaywrightTimeout

from drill.case import NotPlayed
from drill.network import Line

_NAMES = ("chromium", "chromium-browser", "google-chrome")
#: The moment of the key that sends, on the page's own clock.
_NOTE_THE_KEY = 'addEventListener("keydown", (event) => { window.pressed_ms = event.timeStamp; }, true);'


@asynccontextmanager
async def page_beyond(line: Line, url: str, ready: str = "body[data-state=ready]") -> AsyncIterator[Page]:
    """The page, loaded and showing ``ready``. Raises NotPlayed where there is no Chromium."""
    program = chromium()
    with tempfile.TemporaryDirectory() as folder:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=line.program(program, Path(folder)), args=["--no-sandbox"]
            )
            page = await browser.new_page()
            await page.add_init_script(_NOTE_THE_KEY)
            await page.goto(url)
            await page.wait_for_selector(ready)
            yield page
            await browser.close()


def chromium() -> str:
    """Its path. Raises NotPlayed where there is none."""
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise NotPlayed("Chromium is not installed")
    return program


async def ask(page: Page) -> None:
    """Write something and send it."""
    await page.get_by_label("Your message").fill("Why is the sky blue?")
    await page.wait_for_selector("body[data-talk=ready]")
    await page.keyboard.press("Enter")


async def answer(page: Page) -> str:
    """What stands there of the last answer."""
    return str(await page.locator(".answer").last.text_content())


async def shows(page: Page, words: str, seconds: float) -> bool:
    """Whether the banner says so in time."""
    try:
        banner = page.locator("[data-part=banner-text]", has_text=words)
        await banner.wait_for(timeout=seconds * 1000)
    except PlaywrightTimeout:
        return False
    return True
