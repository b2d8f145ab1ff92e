"""A press that the server does not take: told at once on that phone, in words, and it can be used on."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.room_lesson import WORDS, choose, lesson, status
from tests.browser.test_rooms_own_time import ANSWER, Gate, answered, send, state, text
from tests.server import run_server

pytestmark = pytest.mark.browser


def refusal(phone: Page) -> Locator:
    return phone.locator("[data-part=refused]")


async def test_a_send_into_a_held_room_is_refused_in_words_and_the_answer_before_it_is_back(browser: Browser):
    gate = Gate("room")
    engine = ScriptedEngine(spoken(ANSWER, 40.0))
    async with run_server(engine) as server, lesson(browser, server, gate.prepare) as room:
        phone = await room.phone()
        await room.open_own_time()
        await send(phone).click()
        await answered(phone)
        before = await state(phone).text_content()
        # The teacher holds the room, and this phone has not heard of it when its button is pressed.
        gate.is_shut = True
        await room.teacher.locator("[data-hold=freeze]").click()
        await expect(status(phone)).to_have_attribute("data-status", "live")
        await send(phone).click()
        # Known by the error's field, and said in the phone's own language: the server speaks English only.
        await expect(refusal(phone)).to_contain_text("the teacher was holding the room by then")
        await expect(text(phone)).to_have_text(ANSWER)
        await expect(state(phone)).to_have_text(before or "?")
        await expect(send(phone)).to_be_enabled()
        gate.is_shut = False
        gate.open()
        await expect(status(phone)).to_have_attribute("data-status", "frozen")
        await send(phone).click()
        await expect(refusal(phone)).to_contain_text("the teacher was holding the room by then")
        await room.teacher.locator("[data-hold=freeze]").click()
        await expect(status(phone)).to_have_attribute("data-status", "live")
        await expect(refusal(phone)).to_contain_text("Press again when it goes on")
        await send(phone).click()
        await expect(refusal(phone)).to_have_text("")
        await answered(phone)


async def test_a_vote_too_many_says_so_and_leaves_the_counted_one_marked(browser: Browser):
    async with (
        run_server(ScriptedEngine(WORDS), room_messages_per_minute=4) as server,
        lesson(browser, server) as room,
    ):
        phone = await room.phone()
        await room.go_on("predict")
        for choice in ("a", "b", "a", "b"):
            await choose(phone, choice)
        await phone.locator(".choice[value='same']").click()
        await expect(refusal(phone)).to_contain_text("too much came from this phone in one minute")
        await expect(phone.locator(".choice[aria-pressed=true]")).to_have_attribute("value", "b")
        await expect(phone.locator("[data-part=choice-note]")).not_to_contain_text("On its way")
        # The room goes on, and what was said about this ballot goes with it.
        await room.go_on("watch")
        await expect(refusal(phone)).to_have_text("")


async def test_what_a_phone_without_a_line_cannot_say_is_told_and_not_lost_in_silence(browser: Browser):
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        phone = await room.phone()
        await phone.context.set_offline(True)
        await phone.evaluate("dispatchEvent(new Event('offline'))")
        await expect(status(phone)).to_have_attribute("data-status", "reconnecting")
        await phone.locator("[data-part=nickname]").click()
        await expect(refusal(phone)).to_contain_text("Not connected")
        await phone.context.set_offline(False)
        await expect(status(phone)).to_have_attribute("data-status", "live")
        await phone.locator("[data-part=nickname]").click()
        await expect(refusal(phone)).to_have_text("")
        await expect(phone.locator("[data-part=who]")).to_contain_text("You are ")
