"""What a student's phone goes through in a lesson: locked, in the background, sent Back, without storage."""

from __future__ import annotations

import shutil
import time
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Route, async_playwright, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.conftest import ARGUMENTS
from tests.browser.room_lesson import WORDS, Lesson, choose, lesson, status
from tests.server import run_server

pytestmark = pytest.mark.browser

SLOW = spoken("One piece of text after the other, and nobody hurries. " * 10, 120.0)
NO_STORAGE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("refused", "SecurityError"); },
});"""


@pytest_asyncio.fixture(loop_scope="session")
async def keeping_browser() -> AsyncIterator[Browser]:
    """A browser that keeps pages for its Back button, which playwright's own settings forbid."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path,
            args=[*ARGUMENTS],
            ignore_default_args=["--disable-back-forward-cache"],
        )
        yield browser
        await browser.close()


async def lock(page: Page) -> None:
    """The screen is locked: the browser freezes the page, and wakes it up later."""
    session = await page.context.new_cdp_session(page)
    await session.send("Page.setWebLifecycleState", {"state": "frozen"})


async def unlock(page: Page) -> None:
    session = await page.context.new_cdp_session(page)
    await session.send("Page.setWebLifecycleState", {"state": "active"})


async def leave_and_come_back(page: Page, room: Lesson) -> None:
    await page.goto("about:blank")
    await room.teacher.locator("body").wait_for()
    await page.go_back(wait_until="commit")


async def open_vote(room: Lesson) -> None:
    await room.go_on("predict")
    await room.go_on("watch")
    await room.watched()
    await room.go_on("vote")


async def test_five_times_locked_and_sent_back_the_vote_is_kept_and_the_state_is_there_in_three_seconds(
    keeping_browser: Browser,
):
    async with (
        run_server(ScriptedEngine(WORDS)) as server,
        lesson(keeping_browser, server) as room,
    ):
        phone = await room.phone()
        await phone.evaluate(
            "addEventListener('pageshow', ({persisted}) => { window.kept = (window.kept ?? 0) + persisted; })"
        )
        await open_vote(room)
        await choose(phone, "1")
        for cycle in range(5):
            await lock(phone)
            # The lesson goes on while nobody looks at this phone.
            await room.go_on("reveal" if cycle == 0 else "idle" if cycle == 1 else "predict")
            began_ns = time.monotonic_ns()
            await unlock(phone)
            wanted = {0: ".result-sentence", 1: "[data-part=message-title]"}.get(cycle, ".choice")
            await expect(phone.locator(wanted).first).to_be_visible(timeout=3000)
            await leave_and_come_back(phone, room)
            await expect(status(phone)).to_have_attribute("data-status", "live", timeout=3000)
            await expect(phone.locator(wanted).first).to_be_visible(timeout=3000)
            assert (time.monotonic_ns() - began_ns) / 1e9 < 10.0
            await expect(phone.locator("[data-part=who]")).to_have_text("You are number 1")
            if cycle == 0:
                shown = await room.teacher.evaluate(
                    f"fetch('/api/rooms/{room.code}').then((answer) => answer.json())"
                )
                assert shown["round"]["results"]["ballots"] == 1
                await room.go_on("discuss")
                await room.go_on("vote")
                await choose(phone, "2")
                await room.go_on("reveal")
                await room.go_on("discuss")
            elif cycle >= 2:
                await choose(phone, "ab"[cycle % 2])
                await room.teacher.locator("[data-part=stop]").click()
                await expect(room.teacher.locator("body")).to_have_attribute("data-phase", "idle")
        assert await phone.evaluate("window.kept") >= 1, "it was kept for the Back button at least once"


async def test_a_phone_that_refuses_to_store_anything_is_known_again_by_its_cookie(browser: Browser):
    async def refuse(context: BrowserContext) -> None:
        await context.add_init_script(NO_STORAGE)

    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server, refuse) as room:
        phone = await room.phone()
        await open_vote(room)
        await choose(phone, "2")
        await phone.reload()
        await expect(phone.locator(".choice[aria-pressed=true]")).to_have_attribute("value", "2")
        await expect(phone.locator("[data-part=who]")).to_have_text("You are number 1")


async def test_a_host_that_gets_another_address_shows_another_code_to_scan_for_the_same_room(
    browser: Browser,
):
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        await expect(room.wall.locator("[data-part=address]")).to_have_text(f"127.0.0.1:{server.port}/j")
        moved = f"http://localhost:{server.port}"

        async def answer(route: Route) -> None:
            await route.fulfill(json={"bases": [moved]})

        await room.desk.route("**/addresses", answer)
        # Its network is another one: the line breaks, and when it is back the address is asked for.
        await room.desk.set_offline(True)
        await expect(status(room.wall)).to_have_attribute("data-status", "reconnecting")
        await room.desk.set_offline(False)
        await expect(room.wall.locator("[data-part=address]")).to_have_text(f"localhost:{server.port}/j")
        picture = await room.wall.locator("[data-part=qr]").get_attribute("src")
        assert picture is not None and quote(moved, safe="") in picture
        phone = await (await browser.new_context()).new_page()
        await phone.goto(f"{moved}/j#{room.code}")
        await expect(status(phone)).to_have_attribute("data-status", "live")


async def test_a_frozen_stimulus_stands_on_every_screen_and_goes_on_by_one_piece(browser: Browser):
    async with run_server(ScriptedEngine(SLOW)) as server, lesson(browser, server) as room:
        phone = await room.phone()
        await room.go_on("predict")
        await room.teacher.locator("[data-part=steer-speed]").select_option("0.5")
        await room.go_on("watch")
        streamed = room.wall.locator(".lane-text").first
        await expect(streamed).not_to_be_empty()
        await room.teacher.locator("[data-part=steer-stop]").click()
        await expect(status(phone)).to_have_attribute("data-status", "frozen")
        await expect(room.teacher.locator("[data-part=steer-step]")).to_be_visible()
        before = await streamed.text_content()
        assert before is not None
        await room.teacher.locator("[data-part=steer-step]").click()
        await expect(streamed).not_to_have_text(before)
        after = await streamed.text_content()
        assert (
            after is not None and after.startswith(before) and len(after.split()) - len(before.split()) <= 2
        )
        clock = room.wall.locator(".lane-clock b").nth(1)
        stood = await clock.text_content()
        await expect(room.wall.locator(".lane-clock b").nth(1)).to_have_text(stood or "")
        await room.teacher.locator("[data-part=steer-stop]").click()
        await expect(status(phone)).to_have_attribute("data-status", "live")
        await expect(streamed).not_to_have_text(after)
        await room.go_on("vote")
        await choose(phone, "1")
        await room.go_on("reveal")
        await expect(room.wall.locator(".result-caveats")).to_contain_text("stopped or slowed down")


async def test_in_their_own_time_each_phone_sends_one_at_a_time_and_its_last_first_word_counts(
    browser: Browser,
):
    engine = ScriptedEngine(spoken("An answer of a few words.", 80.0))
    async with run_server(engine) as server, lesson(browser, server) as room:
        phone = await room.phone()
        await room.open_own_time()
        for _ in range(2):
            await phone.locator("[data-part=own-send]").click()
            await expect(phone.locator("[data-part=own-send]")).to_be_disabled()
            await expect(phone.locator("[data-part=own-state]")).to_contain_text("Your first word")
            await expect(phone.locator("[data-part=own-text]")).to_have_text("An answer of a few words.")
            await expect(phone.locator("[data-part=own-send]")).to_be_enabled()
        await expect(room.wall.locator("[data-part=class-spread] figcaption")).to_contain_text("1 phone")
        shown = await room.teacher.evaluate(
            f"fetch('/api/rooms/{room.code}').then((answer) => answer.json())"
        )
        ((first_ms, server_ms),) = shown["sending"]["distribution"]
        assert 0 < server_ms < first_ms < 30_000
