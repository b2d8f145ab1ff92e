"""A reply whose page was away for longer than the server waits: what is left of it, in words and no error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.test_chat import SHOWN, STORY, done, opened, ready, send, until
from tests.browser.test_conversations import stored
from tests.server import Running

pytestmark = pytest.mark.browser

Server = Callable[..., Running]
SOON_S = 0.3


async def stored_text(page: Page) -> str:
    """Of the one reply there is, as the browser keeps it."""
    text = (await stored(page))[0]["turns"][0]["replies"][0]["text"]
    assert isinstance(text, str)
    return text


async def hold(page: Page) -> str:
    """Ask, see a little, and pause; what is seen."""
    await send(page)
    await until(page, "document.querySelector('.answer')?.textContent.length > 10")
    await page.get_by_role("button", name="Pause").press("Enter")
    seen = await page.locator(".answer").text_content() or ""
    async with asyncio.timeout(20):
        while not (await stored_text(page)).replace("**", "").startswith(seen):
            await page.evaluate("new Promise((go) => setTimeout(go, 20))")
    return seen


async def stay_away(page: Page, running: Running, until_true: Callable[[Any], bool]) -> None:
    """Leave, and come back when the server's reply is so."""
    await page.goto("about:blank")
    (reply,) = list(running.replies._replies.values())
    async with asyncio.timeout(20):
        while not until_true(reply):
            await page.evaluate("new Promise((go) => setTimeout(go, 20))")


async def test_a_held_reply_that_the_server_has_forgotten_keeps_its_text_and_is_no_error(
    server: Server, browser: Browser
) -> None:
    running = server(ScriptedEngine(spoken(STORY * 9, 60)), resume_s=SOON_S)
    async with opened(browser, running.url) as page:
        seen = await hold(page)
        await stay_away(page, running, lambda reply: reply.compacted)
        running.replies._replies.clear()
        await page.goto(running.url)
        await ready(page)
        await done(page, "stopped")
        assert (await page.locator(".answer").text_content() or "").startswith(seen)
        await expect(page.locator(".reply .note")).to_contain_text("No more of this reply is there")
        await expect(page.locator(".reply .note")).not_to_contain_text("Stopped by you")
        await expect(page.locator(".reply [data-part=alert]")).to_be_hidden()
        await page.get_by_role("button", name="Try again").click()
        await expect(page.locator(".reply").last).to_have_attribute("data-state", "reading")


async def test_what_the_server_still_has_is_shown_once_though_its_place_is_gone(
    server: Server, browser: Browser
) -> None:
    running = server(ScriptedEngine(spoken(STORY, 25)), resume_s=2.5)
    async with opened(browser, running.url) as page:
        await hold(page)
        await stay_away(page, running, lambda reply: reply.compacted and not reply.running)
        await page.goto(running.url)
        await ready(page)
        await done(page)
        assert await page.locator(".answer").text_content() == SHOWN
        await expect(page.locator(".reply .note")).to_contain_text("loaded anew")


async def test_a_reply_that_was_ended_for_want_of_a_reader_does_not_say_that_its_reader_stopped_it(
    server: Server, browser: Browser
) -> None:
    running = server(ScriptedEngine(spoken(STORY * 9, 60)), resume_s=SOON_S)
    async with opened(browser, running.url) as page:
        seen = await hold(page)
        await stay_away(page, running, lambda reply: reply.compacted and not reply.running)
        await page.goto(running.url)
        await ready(page)
        await done(page, "stopped")
        text = await page.locator(".answer").text_content() or ""
        assert text.startswith(seen) and text.count("The sky is blue") <= 2
        await expect(page.locator(".reply .note")).to_contain_text("No more of this reply is there")
