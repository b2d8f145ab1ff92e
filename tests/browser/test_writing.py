"""Writing a message: keys, input methods, small screens."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from app.engine.scripted import ScriptedEngine
from tests.browser.test_chat import Server, done, engine, opened, ready, send

pytestmark = pytest.mark.browser

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


async def test_a_new_line_goes_where_the_caret_is(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        box = page.get_by_label("Your message")
        await box.fill("onetwo")
        await box.evaluate("e => e.setSelectionRange(3, 3)")
        await page.keyboard.press("Shift+Enter")
        await expect(box).to_have_value("one\ntwo")
        await page.keyboard.type("and ")
        await expect(box).to_have_value("one\nand two")


async def test_enter_ends_a_real_composition_and_only_the_next_one_sends(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        box = page.get_by_label("Your message")
        await box.focus()
        session: Any = await page.context.new_cdp_session(page)
        await session.send(
            "Input.imeSetComposition", {"text": "かな", "selectionStart": 2, "selectionEnd": 2}
        )
        enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
        await session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
        await session.send("Input.insertText", {"text": "仮名"})
        await session.send("Input.dispatchKeyEvent", {"type": "keyUp", **enter})
        await expect(box).to_have_value("仮名")
        assert await page.locator(".turn").count() == 0
        await page.keyboard.press("Enter")
        await done(page)
        await expect(page.locator("[data-part=question]")).to_have_text("仮名")


async def test_on_a_touch_screen_enter_is_a_new_line(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url, **PHONE) as page:
        box = page.get_by_label("Your message")
        await box.fill("one")
        await page.keyboard.press("Enter")
        await expect(box).to_have_value("one\n")
        await page.get_by_role("button", name="Send").tap()
        await done(page)


async def test_a_keyboard_that_takes_half_of_the_screen_leaves_the_composer_in_view(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url, **PHONE) as page:
        box = page.get_by_label("Your message")
        await box.tap()
        await page.set_viewport_size({"width": 390, "height": 430})
        await box.fill("line\n" * 12)
        for part in (page.locator(".composer"), page.get_by_role("button", name="Send"), box):
            await expect(part).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("text", ["", "Why is the sky blue, and why is it red when the sun goes down? " * 2])
async def test_the_message_is_not_cut_off_when_the_letters_or_the_window_change(
    server: Server, browser: Browser, text: str
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        box = page.get_by_label("Your message")
        await box.fill(text)
        for look, width in (("light", 1280), ("projector", 1280), ("projector", 1920), ("light", 700)):
            await page.set_viewport_size({"width": width, "height": 900})
            await page.get_by_label("Look").select_option(look)
            hidden = await box.evaluate("e => e.scrollHeight - e.clientHeight")
            assert hidden <= 1, f"{look}, {width} px: {hidden} px of the message are cut off"


async def test_stop_before_the_first_word_stays_stopped_over_a_reload(
    server: Server, browser: Browser
) -> None:
    running = server(ScriptedEngine([(b"Too late.", 2500.0)]))
    async with opened(browser, running.url) as page:
        await send(page)
        await expect(page.locator("[data-part=phase]")).to_have_text("the model is reading your message")
        await page.keyboard.press("Escape")
        await done(page, "stopped")
        await page.reload()
        await ready(page)
        await done(page, "stopped")
        await page.evaluate("new Promise((go) => setTimeout(go, 2600))")
        assert await page.locator(".answer").text_content() == ""
        await expect(page.locator(".note")).to_contain_text("Stopped by you")
        assert sum(running.engine.made.values()) == 0
