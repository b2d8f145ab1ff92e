"""Everybody in their own time: what a phone calls its own first word, and whose seat it is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, WebSocketRoute, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.room_lesson import WORDS, Lesson, lesson, status
from tests.browser.test_chat import pace
from tests.browser.windows import another_window
from tests.server import run_server

pytestmark = pytest.mark.browser

ANSWER = "An answer of a few words."


class Gate:
    """Holds back one kind of what the room tells, as a poor radio does; all else passes.

    ``kind``: ``me``, what it tells each phone of itself, or ``room``, the state.
    """

    def __init__(self, kind: str = "me") -> None:
        self.kind = kind
        self.is_shut = False
        self.num_lines = 0
        self._held: list[tuple[WebSocketRoute, str | bytes]] = []

    async def prepare(self, context: BrowserContext) -> None:
        await context.route_web_socket(re.compile("/ws/rooms/"), self._join)

    def open(self) -> None:
        self.is_shut = False
        for socket, message in self._held:
            socket.send(message)

    def _join(self, socket: WebSocketRoute) -> None:
        def pass_on(message: str | bytes) -> None:
            kind = re.match(r'\{"type": ?"(\w+)"', str(message))
            if self.is_shut and kind and kind[1] == self.kind:
                self._held.append((socket, message))
                return
            self.num_lines += bool(kind and kind[1] == "line")
            socket.send(message)

        socket.connect_to_server().on_message(pass_on)


async def shown(room: Lesson) -> Any:
    """The sending as the server has it."""
    return (await room.teacher.evaluate(f"fetch('/api/rooms/{room.code}').then((answer) => answer.json())"))[
        "sending"
    ]


def state(phone: Page) -> Any:
    return phone.locator("[data-part=own-state]")


def send(phone: Page) -> Any:
    return phone.locator("[data-part=own-send]")


def text(phone: Page) -> Any:
    return phone.locator("[data-part=own-text]")


async def answered(phone: Page) -> None:
    await expect(state(phone)).to_contain_text("Your first word")
    await expect(text(phone)).to_have_text(ANSWER)
    await expect(send(phone)).to_be_enabled()


async def test_a_second_answer_is_measured_from_its_own_click_whatever_the_other_phones_do_meanwhile(
    browser: Browser,
):
    gate = Gate()
    engine = ScriptedEngine(spoken(ANSWER, 40.0))
    async with run_server(engine) as server, lesson(browser, server, gate.prepare) as room:
        phone, other = await room.phone(), await room.phone()
        await room.open_own_time()
        for page in (phone, other):
            await send(page).click()
            await answered(page)
        gate.is_shut = True
        await send(phone).click()
        before = gate.num_lines
        await send(other).click()
        # Two phones, the wall and the console hear of the beginning and of the end.
        while gate.num_lines < before + 6:
            await phone.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))")
        await expect(text(phone)).to_have_text("")
        await expect(state(phone)).to_have_text("Sent …")
        gate.open()
        await answered(phone)
        await answered(other)
        await expect(room.wall.locator("[data-part=class-spread] figcaption")).to_contain_text("2 phones")
        for first_ms, server_ms in (await shown(room))["distribution"]:
            assert 0 < server_ms < first_ms < 30_000


async def test_a_page_that_was_loaded_anew_keeps_the_first_word_that_it_has_told(browser: Browser):
    engine = ScriptedEngine(spoken(ANSWER, 40.0))
    async with run_server(engine) as server, lesson(browser, server) as room:
        phone = await room.phone()
        await room.open_own_time()
        await send(phone).click()
        await answered(phone)
        told = await state(phone).text_content()
        ((first_ms, _),) = (await shown(room))["distribution"]
        await phone.reload()
        await expect(text(phone)).to_have_text(ANSWER)
        await expect(state(phone)).to_have_text(told or "?")
        assert (await shown(room))["distribution"][0][0] == first_ms


async def test_a_page_that_was_loaded_anew_before_its_first_word_reads_it_and_measures_nothing(
    browser: Browser,
):
    engine = ScriptedEngine([*spoken("Late.", 2500.0), *spoken(" And slow.", 40.0)])
    async with run_server(engine) as server, lesson(browser, server) as room:
        phone = await room.phone()
        await room.open_own_time()
        await send(phone).click()
        await expect(send(phone)).to_be_disabled()
        await phone.reload()
        await expect(text(phone)).to_have_text("Late. And slow.")
        await expect(send(phone)).to_be_enabled()
        await expect(state(phone)).to_have_text("Press when you are told to")
        await expect(phone.locator("[data-part=own-strip] > *")).to_be_hidden()
        assert (await shown(room))["num_measured"] == 0
        pace(engine, 40.0)
        await send(phone).click()
        await expect(state(phone)).to_contain_text("Your first word")
        await expect(room.wall.locator("[data-part=class-spread] figcaption")).to_contain_text("1 phone")


async def test_a_phone_that_was_replaced_by_another_tab_lets_it_be(browser: Browser):
    async with run_server(ScriptedEngine(WORDS)) as server, lesson(browser, server) as room:
        phone = await room.phone()
        another = await another_window(phone)
        room.listen(another)
        await another.goto(phone.url)
        await expect(status(phone)).to_have_attribute("data-status", "replaced")
        for event in ("offline", "online", "pagehide", "pageshow"):
            await phone.evaluate(f"dispatchEvent(new Event('{event}'))")
            assert await status(phone).get_attribute("data-status") == "replaced"
        await expect(phone.locator("[data-part=message-button]")).to_have_text("Go on here")
        await phone.locator("[data-part=message-button]").click()
        await expect(status(phone)).to_have_attribute("data-status", "live")
        await expect(status(another)).to_have_attribute("data-status", "replaced")
