"""A lesson in a real Chromium: the teacher's console, the wall and three phones at once, on one server."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from app.rooms import statistics
from tests.browser.room_lesson import WORDS, choose, lesson, status
from tests.server import run_server

pytestmark = pytest.mark.browser


async def room_of(page: Page) -> dict[str, Any]:
    """The room as this page's own browser is shown it over HTTP."""
    shown: dict[str, Any] = await page.evaluate(
        "fetch(`/api/rooms/${location.hash.slice(1, 7)}`).then((answer) => answer.json())"
    )
    return shown


async def order_of(page: Page) -> str:
    """Which lane this phone shows first: the one that streams has its first word earlier."""
    clocks = await page.locator(".lane-clock b").all_text_contents()
    first, second = (float(clock.split()[0]) for clock in clocks)
    return "ab" if first < second else "ba"


async def test_a_whole_round_from_the_code_to_the_export(browser: Browser):
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        teacher, wall = room.teacher, room.wall
        await expect(wall.locator("[data-part=code]")).to_have_text(f"{room.code[:3]}\u00a0{room.code[3:]}")
        phones = [await room.phone() for _ in range(3)]
        await expect(wall.locator("[data-part=count]")).to_have_text("3 phones are here")

        await room.go_on("predict")
        await choose(phones[0], "a")
        await room.go_on("watch")
        late = await room.phone()
        room.phones.remove(late)
        await room.watched()
        orders = [await order_of(phone) for phone in phones]
        assert len(set(orders)) == 2, "three phones of a block of four cannot all have one order"

        await room.go_on("vote")
        await expect(late.locator("[data-part=message-title]")).to_contain_text("You came while")
        for phone, order in zip(phones, orders, strict=True):
            streamed = "1" if order == "ab" else "2"
            await choose(phone, "same")
            await choose(phone, streamed)
        await phones[1].reload()
        kept = phones[1].locator(".choice[aria-pressed=true]")
        await expect(kept).to_have_attribute("value", "1" if orders[1] == "ab" else "2")
        await phones[0].locator("[data-part=felt-1]").fill("1.5")
        await phones[0].locator("[data-part=felt-2]").fill("3")
        await expect(phones[0].locator("[data-part=felt-note]")).to_contain_text("Kept")
        await expect(teacher.locator("[data-part=voted]")).to_contain_text("3 of 3 have voted")
        for page in (teacher, wall, phones[0]):
            assert await page.locator(".result-sentence").count() == 0, "hidden until closed"
        assert "results" not in (await room_of(phones[0]))["round"]

        await room.go_on("reveal")
        found = (await room_of(teacher))["round"]["results"]
        # How many phones painted in time is this machine's affair; what is made of it is ours.
        assert found["ballots"] == 3 and found["decided"] + sum(found["excluded"].values()) == 3
        assert found["lanes"]["a"] == found["decided"]
        for page in (teacher, wall, phones[2]):
            await expect(page.locator(".result-sentence")).to_have_text(found["sentence"])
            await expect(page.locator(".bar-count").first).to_have_text(str(found["lanes"]["a"]))
        await room.go_on("discuss")
        await expect(wall.locator(".lane-spread figcaption").first).to_contain_text("phone")
        await room.go_on("vote")
        await choose(phones[0], "same")
        await room.go_on("reveal")
        await expect(wall.locator(".result")).to_have_count(2)
        address = await teacher.locator("[data-part=csv]").get_attribute("href")
        table = await teacher.evaluate("(url) => fetch(url).then((answer) => answer.text())", address)
        rows = list(csv.DictReader(io.StringIO(table)))
        assert len(rows) >= 3 and any("same" in row.values() for row in rows)


async def test_students_do_no_teachers_action_and_the_teachers_hand_is_felt(browser: Browser):
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        teacher, wall = room.teacher, room.wall
        first, second = await room.phone(), await room.phone()
        await first.goto(f"{server.url}/teach#{room.code}")
        await expect(first.locator("[data-part=open-alert]")).to_contain_text("has no key")
        assert (
            await first.evaluate(
                f"fetch('/api/rooms/{room.code}', {{method: 'DELETE'}}).then((a) => a.status)"
            )
            == 403
        )
        await first.goto(f"{server.url}/join#{room.code}")
        await expect(first.locator("[data-part=who]")).to_have_text("You are number 1")

        await teacher.keyboard.press("b")
        await expect(wall.locator("[data-part=blank]")).to_be_visible()
        await expect(teacher.locator("[data-hold=blank]")).to_have_attribute("aria-pressed", "true")
        await expect(first.locator("[data-part=message-title]")).to_have_text("Eyes to the front")
        await teacher.keyboard.press(".")
        await expect(wall.locator("[data-part=blank]")).to_be_hidden()
        await teacher.keyboard.press("p")
        await expect(status(first)).to_have_attribute("data-status", "frozen")
        await expect(teacher.locator("[data-hold=freeze]")).to_have_attribute("aria-pressed", "true")
        await teacher.keyboard.press("p")
        await expect(status(first)).to_have_attribute("data-status", "live")
        await first.locator("[data-part=nickname]").click()
        await expect(first.locator("[data-part=who]")).to_contain_text("You are ")
        await expect(teacher.locator(".people li").first.locator("span")).not_to_be_empty()
        await teacher.get_by_role("button", name="Take out number 2").click()
        await expect(second.locator("[data-part=message-title]")).to_contain_text("taken out")
        await second.get_by_role("button", name="Join again").click()
        await expect(second.locator("[data-part=who]")).to_have_text("You are number 3")

        await teacher.get_by_label("Show it on the phones, too").uncheck()
        await teacher.get_by_label("Let them predict first").uncheck()
        await teacher.keyboard.press("PageDown")
        await expect(first.locator("[data-part=message-title]")).to_contain_text("It begins")
        await expect(teacher.locator("body")).to_have_attribute("data-phase", "predict")
        # The wall's window hands the clicker on.
        await wall.keyboard.press("PageDown")
        await expect(first.locator("[data-part=message-title]")).to_have_text("Watch the wall")
        await expect(teacher.locator("body")).to_have_attribute("data-phase", "watch")
        await room.go_on("vote")
        for phone in (first, second):
            await choose(phone, "1")
        await room.go_on("reveal")
        low, high = (f"{100 * share:.0f}" for share in statistics.wilson(2, 2))
        for page in (teacher, wall, first):
            await expect(page.locator(".result-sentence")).to_contain_text(
                "2 of 2 who decided chose “Streamed”"
            )
            caption = page.locator(".result-interval figcaption")
            await expect(caption).to_contain_text(f"plausibly between {low} and {high} %")
        await teacher.close()
        await expect(status(first)).to_have_attribute("data-status", "host_lost")
        again = await room.desk.new_page()
        await again.goto(f"{server.url}/teach#{room.code}")
        await expect(status(first)).to_have_attribute("data-status", "live")
        for button in ("close-room", "delete-room"):
            await again.locator(f"[data-part={button}]").click()
            await again.locator(f"[data-part={button}]").click()
            await expect(status(first)).to_have_attribute("data-status", "ended")
        await again.wait_for_selector("body[data-screen=open]")
        await expect(again.locator("[data-part=open-alert]")).to_contain_text("not there any more")
        await expect(wall.locator("[data-part=message-title]")).to_have_text("This room is over")


async def test_everybody_sends_and_the_wall_shows_how_the_first_words_spread(browser: Browser):
    engine = ScriptedEngine(spoken("An answer of a few words.", 60.0))
    async with run_server(engine) as server, lesson(browser, server) as room:
        phones = [await room.phone() for _ in range(3)]
        await room.teacher.locator(".kind", has_text="Everybody sends").click()
        await room.go_on("collect")
        for i, phone in enumerate(phones):
            await phone.locator("[data-part=ask]").fill(f"Question <b>{i}</b>?")
            await phone.get_by_role("button", name="Hand it in").click()
            await expect(phone.locator("[data-part=ask-note]")).to_contain_text("Handed in")
        await expect(room.teacher.locator(".prompts li")).to_have_count(3)
        assert "Question" not in await room.wall.locator("body").inner_text(), (
            "only what the teacher puts there"
        )
        await room.teacher.get_by_role("button", name="Show on the wall").first.click()
        await expect(room.wall.locator("[data-part=spotlight-text]")).to_have_text("Question <b>0</b>?")

        await room.go_on("sending")
        for phone in phones:
            await expect(phone.locator("[data-part=own-state]")).to_contain_text("Your first word")
            await expect(phone.locator("[data-part=own-text]")).to_have_text("An answer of a few words.")
        await expect(room.wall.locator("[data-part=class-spread] figcaption")).to_contain_text("3 phones")
        bars = room.wall.locator("[data-part=class-spread] rect.phones")
        assert await bars.count() >= 1
        await expect(room.wall.locator("[data-part=numbers]")).to_contain_text("phones measured")
        await expect(room.wall.locator("[data-part=sending-title]")).to_have_text("Everybody sends now")
        await room.go_on("results")
        await expect(room.wall.locator("[data-part=sending-title]")).to_have_text("What the class measured")


async def test_a_server_that_goes_away_and_an_address_typed_by_hand(browser: Browser):
    context = await browser.new_context(viewport={"width": 320, "height": 640})
    phone = await context.new_page()
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        await phone.goto(f"{server.url}/join")
        await phone.locator("[data-part=code]").fill("zzz-zz2")
        await phone.locator("[data-part=enter]").click()
        await expect(phone.locator("[data-part=enter-note]")).to_contain_text("no class with this code")
        await phone.locator("[data-part=code]").fill(f" {room.code[:3].lower()} {room.code[3:].lower()}")
        await phone.locator("[data-part=enter]").click()
        await expect(status(phone)).to_have_attribute("data-status", "live")
        assert await phone.evaluate("document.documentElement.scrollWidth") <= 320
        await context.set_offline(True)
        await expect(status(phone)).to_have_attribute("data-status", "reconnecting")
        await context.set_offline(False)
        await expect(status(phone)).to_have_attribute("data-status", "live")
    await context.close()
