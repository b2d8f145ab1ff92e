"""A second page of the same browser, in a window of its own.

Playwright opens it as a tab before the first one. Chromium draws a tab that is behind another once a
second, and each click waits for two drawings of what it is about to press.
"""

from __future__ import annotations

from playwright.async_api import Page


async def another_window(page: Page) -> Page:
    """An empty page with the storage and the routes of ``page``, both of them in view."""
    async with page.context.expect_page() as coming:
        await page.evaluate("void open('about:blank', '_blank', 'popup,noopener')")
    return await coming.value
