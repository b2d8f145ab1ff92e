"""axe-core on the classroom's three pages in every phase of a lesson, and on their sheets and forms."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.room_lesson import Lesson, choose, lesson
from tests.browser.test_access import AXE, nobody_complains
from tests.server import run_server

pytestmark = pytest.mark.browser

STORY = spoken("Sunlight meets the air and its short waves are thrown about. " * 12, 150.0)


THEMES = ["dark", "light"]


async def prepare(context: BrowserContext) -> None:
    await context.add_init_script(path=AXE)
    await context.add_init_script("localStorage.setItem('firstword.theme', 'light')")


async def look(room: Lesson, moment: str, themes: Iterable[str] = ("light",)) -> None:
    """What is looked at: the console, the wall and the first phone."""
    pages: dict[str, Page] = {"console": room.teacher, "wall": room.wall, "phone": room.phones[0]}
    for name, page in pages.items():
        await nobody_complains(page, f"{name}: {moment}", themes)


async def test_axe_finds_nothing_to_complain_about_in_any_phase_of_a_round(browser: Browser):
    async with (
        run_server(ScriptedEngine(STORY)) as server,
        lesson(browser, server, prepare) as room,
    ):
        await nobody_complains(room.wall, "lobby", THEMES)
        phones = [await room.phone() for _ in range(2)]
        await phones[1].locator("[data-part=nickname]").click()
        await expect(room.teacher.locator(".people li").nth(1).locator("span")).not_to_be_empty()
        await look(room, "idle", THEMES)
        await room.teacher.locator("[data-part=closes]").select_option("clock")
        await room.go_on("predict")
        await choose(phones[0], "a")
        await look(room, "predict", THEMES)
        await room.go_on("watch")
        await expect(room.wall.locator(".lane-text").first).not_to_be_empty()
        await room.teacher.locator("[data-part=steer-stop]").click()
        await expect(room.teacher.locator("[data-part=steer-step]")).to_be_visible()
        await look(room, "watch, frozen", THEMES)
        await room.teacher.locator("[data-part=steer-stop]").click()
        await room.go_on("vote")
        await choose(phones[0], "1")
        await expect(phones[0].locator("[data-part=closing]")).not_to_be_empty()
        await look(room, "vote", THEMES)
        await room.go_on("reveal")
        await look(room, "reveal", THEMES)
        await room.go_on("discuss")
        await look(room, "discuss", THEMES)
        await room.teacher.locator("[data-part=preflight]").click()
        await asyncio.wait_for(room.teacher.wait_for_selector("dialog[open]"), 5)
        await nobody_complains(room.teacher, "check before the lesson", THEMES)


async def test_axe_finds_nothing_to_complain_about_when_everybody_sends(browser: Browser):
    engine = ScriptedEngine(spoken("An answer of a few words.", 60.0))
    async with run_server(engine) as server, lesson(browser, server, prepare) as room:
        phone = await room.phone()
        await room.teacher.locator(".kind").last.click()
        await look(room, "the form")
        await room.go_on("collect")
        await phone.locator("[data-part=ask]").fill("Why?")
        await phone.locator("[data-part=ask-form] button").click()
        await room.teacher.locator(".prompts button").click()
        await expect(room.wall.locator("[data-part=spotlight]")).to_be_visible()
        await look(room, "collect, with a spotlight")
        await room.go_on("sending")
        await expect(phone.locator("[data-part=own-text]")).to_have_text("An answer of a few words.")
        await look(room, "sending")
        await room.go_on("results")
        await look(room, "results")
        await phone.goto(f"{server.url}/join")
        await expect(phone.locator("[data-part=code]")).to_be_visible()
        await room.teacher.goto(f"{server.url}/teach")
        await expect(room.teacher.locator("[data-part=open-form]")).to_be_visible()
        await look(room, "the ways in")
