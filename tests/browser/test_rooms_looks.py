"""How the classroom's pages look and speak where nobody would notice at a desk: the last row, and Hindi."""

from __future__ import annotations

import re
from itertools import product

import pytest
from playwright.async_api import Browser, BrowserContext, expect

from app.engine.scripted import ScriptedEngine
from tests.browser.room_lesson import WORDS, lesson
from tests.browser.test_rooms_own_time import Gate
from tests.browser.test_rooms_refused import refusal
from tests.server import run_server

pytestmark = pytest.mark.browser

#: No letter of English, but codes of classes, names of students and units have some.
HINDI = re.compile(r"^[^A-Za-z]+$")
LETTERS_PX = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
SMALLEST_PX = """() => Math.min(...[...document.querySelectorAll("main *")]
  .filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
  .map((e) => parseFloat(getComputedStyle(e).fontSize)))"""


async def test_the_wall_has_letters_for_the_last_row_in_every_theme(browser: Browser):
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        for theme, (height, least_px) in product(("light", "dark", "projector"), ((720, 24), (1080, 36))):
            await room.wall.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
            await room.wall.set_viewport_size({"width": height * 16 // 9, "height": height})
            assert await room.wall.evaluate(LETTERS_PX) >= least_px - 0.1, theme
            assert await room.wall.evaluate(SMALLEST_PX) >= least_px - 0.1, theme


async def test_what_a_class_is_refused_is_said_in_its_language(browser: Browser):
    gate = Gate("room")

    async def in_hindi(context: BrowserContext) -> None:
        await context.add_init_script("localStorage.setItem('firstword.language', 'hi')")
        await gate.prepare(context)

    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server, in_hindi) as room:
        phone = await room.phone()
        await room.teacher.locator(".kind").last.click()
        await room.go_on("collect")
        # Nobody has handed in a question: the room does not go on, and the teacher reads why.
        await room.teacher.locator("[data-part=next]").click()
        trouble = room.teacher.locator("[data-part=trouble]")
        await expect(trouble).to_contain_text("नहीं हुआ")
        await expect(trouble).to_have_text(HINDI)
        # The lesson has gone on, and this phone has not heard of it.
        gate.is_shut = True
        await room.teacher.locator("[data-part=stop]").click()
        await expect(room.wall.locator("body")).to_have_attribute("data-screen", "sending")
        await phone.locator("[data-part=ask]").fill("आसमान नीला क्यों है?")
        await phone.locator("[data-part=ask-form] button").click()
        await expect(refusal(phone)).to_contain_text("देर से पहुँचा")
        await expect(refusal(phone)).to_have_text(HINDI)
        gate.is_shut = False
        gate.open()


async def test_why_an_answer_has_failed_is_said_in_the_phones_language(browser: Browser):
    async def in_hindi(context: BrowserContext) -> None:
        await context.add_init_script("localStorage.setItem('firstword.language', 'hi')")

    async with (
        run_server(ScriptedEngine(WORDS, fail_at=1)) as server,
        lesson(browser, server, in_hindi) as room,
    ):
        phone = await room.phone()
        await room.teacher.locator(".kind").last.click()
        await room.teacher.locator("[data-part=sending-prompt]").fill("Count.")
        await room.teacher.locator("[data-part=sending-form] button").click()
        await expect(room.teacher.locator("body")).to_have_attribute("data-phase", "collect")
        await room.go_on("sending")
        await expect(phone.locator("[data-part=own-state]")).to_contain_text("मॉडल यह जवाब नहीं बना सका")
        await expect(phone.locator("[data-part=own-state]")).to_have_text(HINDI)
        await room.go_on("results")
        await room.go_on("idle")
        await room.teacher.locator(".kind").first.click()
        await room.go_on("predict")
        await room.go_on("watch")
        for page in (phone, room.wall, room.teacher):
            trouble = page.locator("[data-part=trouble]:visible").last
            await expect(trouble).to_contain_text("मॉडल यह जवाब नहीं बना सका", timeout=15_000)
            await expect(trouble).to_have_text(HINDI)
