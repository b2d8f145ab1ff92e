"""A real Chromium for the browser tests."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """The system's Chromium, in which class.test is a name of ours that is no secure context."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    assert path, f"none of {', '.join(NAMES)} is installed: make test says how"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path,
            args=["--no-sandbox", "--host-resolver-rules=MAP class.test 127.0.0.1"],
        )
        yield browser
        await browser.close()
