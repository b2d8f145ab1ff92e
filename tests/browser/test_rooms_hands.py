"""A lesson without phones: the wall, the teacher's clicker, and hands that are counted."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from app.engine.scripted import ScriptedEngine
from app.rooms import statistics
from tests.browser.room_lesson import WORDS, choose, lesson
from tests.server import run_server

pytestmark = pytest.mark.browser


async def test_hands_are_counted_on_the_console_and_revealed_on_the_wall(browser: Browser):
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        teacher, wall = room.teacher, room.wall
        phone = await room.phone()
        await teacher.locator("[data-hold=hands_only]").click()
        await expect(phone.locator("[data-part=message-title]")).to_have_text("Hands today")
        await expect(wall.locator("[data-part=count]")).to_contain_text("no phones needed")
        await teacher.get_by_label("Show it on the phones, too").uncheck()
        await room.go_on("predict")
        await room.go_on("watch")
        await expect(wall.locator(".lane[data-state=over]")).to_have_count(2, timeout=15_000)
        await room.go_on("vote")
        await expect(wall.locator("[data-part=progress]")).to_contain_text("Hands up")
        for name, count in (("tally-1", 17), ("tally-2", 5), ("tally-same", 3)):
            await teacher.locator(f"[data-part={name}]").fill(str(count))
        await teacher.get_by_role("button", name="Keep this count").click()
        await expect(teacher.locator("[data-part=tally-note]")).to_contain_text("17 first, 5 second, 3")
        await room.go_on("reveal")
        low, high = (f"{100 * share:.0f}" for share in statistics.wilson(17, 22))
        sentence = wall.locator(".result-sentence")
        await expect(sentence).to_contain_text(
            f"17 of 22 who decided chose “Streamed” (95 % interval {low} to"
        )
        await expect(sentence).to_contain_text(f"{high} %; 3 could not tell")
        await expect(wall.locator(".result-caveats")).to_contain_text("Everybody saw one order")


async def test_a_catch_round_tells_nobody_that_both_are_alike_before_it_is_revealed(browser: Browser):
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        phone = await room.phone()
        await room.teacher.locator(".kind", has_text="Catch round").click()
        await expect(room.teacher.locator("[data-part=lane-b-row]")).to_be_hidden()
        await room.go_on("predict")
        await expect(phone.locator(".choice").nth(1)).to_have_text("All at once")
        await room.go_on("watch")
        await room.watched()
        await room.go_on("vote")
        await choose(phone, "2")
        for page in (phone, room.wall):
            assert "same" not in (await page.locator("main").inner_text()).lower()
        await room.go_on("reveal")
        await expect(room.wall.locator(".result-caveats")).to_contain_text("Both were the same")
