"""A model that stands still: the page says so in words, and takes it back when it goes on (F19)."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from app.engine.scripted import ScriptedEngine
from app.generation import EngineStatus
from tests.browser.test_chat import Server, done, opened, send

pytestmark = pytest.mark.browser

#: The page asks after five seconds without a word.
STILL_MS = 9000.0


class StallingEngine(ScriptedEngine):
    """Ready, and seen to make no step."""

    @property
    def status(self) -> EngineStatus:
        return EngineStatus("ready", stalled_s=7.4)


async def test_a_model_that_makes_no_token_is_said_and_taken_back(server: Server, browser: Browser) -> None:
    script = StallingEngine([(b"It thinks", 20.0), (b" and goes on.", STILL_MS)])
    async with opened(browser, server(script).url) as page:
        await send(page)
        banner = page.locator(".banner")
        await expect(banner).to_contain_text("has made no token for 7 s", timeout=STILL_MS)
        await done(page)
        await expect(banner).to_be_hidden()
