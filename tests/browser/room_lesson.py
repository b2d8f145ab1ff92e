"""A lesson for the browser tests: the teacher's console, the wall and as many phones as come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, expect

from app.engine.script import spoken
from tests.browser.windows import another_window
from tests.server import Running

WORDS = spoken("Sunlight meets the air and its short waves are thrown about. ", 40.0)


@dataclass
class Lesson:
    """All pages of one room, and what they complained about."""

    server: Running
    browser: Browser
    desk: BrowserContext
    teacher: Page
    wall: Page
    code: str
    #: What is done to every new browser context before its first page.
    prepare: Callable[[BrowserContext], Awaitable[None]]
    phones: list[Page] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    async def phone(self, **options: Any) -> Page:
        """Another student comes, with a browser of their own."""
        size = {"width": 390, "height": 844}
        context = await self.browser.new_context(**{"viewport": size, **options})
        await self.prepare(context)
        page = await context.new_page()
        self.listen(page)
        await page.goto(f"{self.server.url}/j#{self.code}")
        await expect(status(page)).to_have_attribute("data-status", "live")
        self.phones.append(page)
        return page

    def listen(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    async def open_own_time(self) -> None:
        """A sending in which everybody asks when they like."""
        await self.teacher.locator(".kind").last.click()
        await self.teacher.locator("[data-part=mode]").select_option("own_time")
        await self.teacher.locator("[data-part=sending-prompt]").fill("Count.")
        await self.teacher.locator("[data-part=sending-form] button").click()
        await expect(self.teacher.locator("body")).to_have_attribute("data-phase", "collect")
        await self.go_on("sending")

    async def go_on(self, to: str) -> None:
        """Press the large button; every page has to follow."""
        await self.teacher.locator("[data-part=next]").click()
        await expect(self.teacher.locator("body")).to_have_attribute("data-phase", to)
        await expect(self.wall.locator("body")).to_have_attribute("data-phase", to)

    async def watched(self) -> None:
        """Until both lanes are over on every phone and the wall."""
        for page in [self.wall, *self.phones]:
            await expect(page.locator(".lane[data-state=over]")).to_have_count(2, timeout=15_000)


def status(page: Page) -> Any:
    return page.locator("[data-part=status]")


async def _as_it_is(context: BrowserContext) -> None:
    """Nothing is prepared."""


@asynccontextmanager
async def lesson(
    browser: Browser, server: Running, prepare: Callable[[BrowserContext], Awaitable[None]] = _as_it_is
) -> AsyncIterator[Lesson]:
    """An open room with its console and its wall; at the end no page may have complained."""
    desk = await browser.new_context(viewport={"width": 1280, "height": 720})
    await prepare(desk)
    teacher = await desk.new_page()
    complaints: list[str] = []
    teacher.on("pageerror", lambda error: complaints.append(str(error)))
    await teacher.goto(f"{server.url}/teach")
    await teacher.locator("[data-part=title-field]").fill("Physics 10b")
    await teacher.locator("[data-part=open-form] button").click()
    await teacher.wait_for_selector("body[data-screen=room]")
    code = (await teacher.evaluate("location.hash"))[1:]
    address = await teacher.locator("[data-part=wall]").get_attribute("href")
    wall = await another_window(teacher)
    wall.on("pageerror", lambda error: complaints.append(str(error)))
    await wall.goto(f"{server.url}/{address}")
    await wall.wait_for_selector("body[data-screen=lobby]")
    yield Lesson(server, browser, desk, teacher, wall, code, prepare, complaints=complaints)
    assert complaints == []


async def choose(page: Page, value: str) -> None:
    """Press one of the large buttons and see that the server has counted it."""
    button = page.locator(f".choice[value='{value}']")
    await button.click()
    await expect(button).to_have_attribute("aria-pressed", "true")
    await expect(page.locator("[data-part=choice-note]")).not_to_contain_text("On its way")
