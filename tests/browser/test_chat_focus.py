"""Where the keyboard's focus goes on the chat page when what had it goes away."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.test_chat import Server, engine, opened, send, until
from tests.browser.test_conversations import WIDE, finished, open_list, shown

pytestmark = pytest.mark.browser


async def edit_to(page: Page, question: str, at: int = 0) -> None:
    """Word a question anew, by the keyboard alone."""
    await page.get_by_role("button", name="Change this question").nth(at).press("Enter")
    box = page.get_by_role("textbox", name="Change this question")
    await box.fill(question)
    await box.press("Enter")


async def test_arrow_keys_walk_through_all_wordings_of_a_question(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine("Yes.", 1)).url) as page:
        await send(page, "First?")
        await finished(page)
        for question in ("Second?", "Third?"):
            await edit_to(page, question)
            await finished(page)
        earlier = page.get_by_role("button", name="The one before").locator("visible=true")
        later = page.get_by_role("button", name="The next one").locator("visible=true")
        asked = page.locator("[data-part=question]")
        await earlier.focus()
        for question in ("Second?", "First?"):
            await page.keyboard.press("ArrowLeft")
            await expect(asked).to_have_text(question)
            await expect(earlier).to_be_focused()
        await later.press("Enter")
        await expect(asked).to_have_text("Second?")
        await expect(later).to_be_focused()
        # Also where a sequel is placed together with the question.
        for number in range(3):
            await send(page, f"And {number}?")
            await finished(page)
        await later.focus()
        await page.keyboard.press("ArrowRight")
        await expect(asked).to_have_count(1)
        await page.keyboard.press("ArrowLeft")
        await expect(asked).to_have_count(4)
        await expect(later).to_be_focused()


async def test_whatever_asks_leaves_the_focus_on_stop_and_then_on_the_field(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=60), default_output_tokens=12).url) as page:
        stop, field = page.get_by_role("button", name="Stop"), page.get_by_label("Your message")
        await send(page)
        await finished(page)
        for name in ("Ask again", "Continue"):
            await page.get_by_role("button", name=name).locator("visible=true").press("Enter")
            await expect(stop).to_be_focused()
            await finished(page)
            await expect(field).to_be_focused()
        await edit_to(page, "Another?")
        await expect(stop).to_be_focused()
        await stop.press("Enter")
        await finished(page, "stopped")
        await expect(field).to_be_focused()


async def test_the_panel_of_settings_gives_the_focus_to_the_field_where_its_opener_is_gone(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine("Yes.", 1)).url) as page:
        await page.get_by_role("button", name="Settings", exact=True).press("Enter")
        await page.get_by_label("Seed").fill("7")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="Settings", exact=True)).to_be_focused()
        await page.get_by_role("button", name="seed 7").press("Enter")
        await page.get_by_role("button", name="Reset").press("Enter")
        await page.keyboard.press("Escape")
        await expect(page.get_by_label("Your message")).to_be_focused()


async def test_a_button_that_shows_what_is_new_hands_the_focus_on_to_it(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine("A line.\n\n" * 60, 10)).url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 200")
        await page.locator("[data-part=scroller]").hover()
        await page.mouse.wheel(0, -4000)
        below = page.get_by_role("button", name="New lines below")
        await below.press("Enter")
        await expect(below).to_be_hidden()
        await expect(page.locator("[data-part=scroller]")).to_be_focused()


async def test_a_notice_that_goes_gives_the_focus_to_the_field(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine("Yes.", 1)).url) as page:
        field, notice = page.get_by_label("Your message"), page.locator(".notice")
        await send(page)
        await finished(page)
        for name in ("Undo", "Close"):
            await page.get_by_role("button", name="Delete this question").press("Enter")
            await expect(notice).to_be_visible()
            await notice.get_by_role("button", name=name).press("Enter")
            await expect(notice).to_be_hidden()
            await expect(field).to_be_focused()
            if name == "Undo":
                await expect(shown(page)).to_have_count(1)


async def test_over_the_list_a_notice_leaves_the_focus_in_the_list_and_on_a_phone_opens_no_keyboard(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine("Yes.", 1)).url, viewport={"width": 390, "height": 844}) as page:
        await send(page)
        await finished(page)
        await open_list(page)
        await page.get_by_role("button", name="Delete Why is the sky blue?").press("Enter")
        await page.locator(".notice").get_by_role("button", name="Close").press("Enter")
        await until(page, "document.activeElement.closest('dialog')")
    touched = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    async with opened(browser, server(engine("Yes.", 1)).url, **touched) as page:
        await page.get_by_label("Your message").fill("Why?")
        await page.get_by_role("button", name="Send").tap()
        await finished(page)
        await page.get_by_role("button", name="Copy a link to this experiment").tap()
        await page.locator(".notice").get_by_role("button", name="Close").tap()
        await expect(page.get_by_role("button", name="Send")).to_be_focused()


async def test_the_up_key_leaves_a_half_written_rewording_as_it_is(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine("Yes.", 1)).url) as page:
        await send(page, "First?")
        await finished(page)
        field = page.get_by_label("Your message")
        await field.press("ArrowUp")
        box = page.get_by_role("textbox", name="Change this question")
        await expect(box).to_have_value("First?")
        await box.fill("First, and half of")
        await field.press("ArrowUp")
        await expect(box).to_be_focused()
        await expect(box).to_have_value("First, and half of")
        # Given up, it begins with the question again.
        await box.press("Escape")
        await field.press("ArrowUp")
        await expect(box).to_have_value("First?")


async def test_help_opens_beside_the_open_list_and_only_once(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url, **WIDE) as page:
        await open_list(page)
        await page.get_by_role("radio", name="Streamed").focus()
        await page.keyboard.press("?")
        await page.keyboard.press("?")
        sheet = page.get_by_role("dialog", name="Keys")
        await expect(sheet).to_have_count(1)
        await page.keyboard.press("Escape")
        await expect(sheet).to_have_count(0)
        await expect(page.locator("#drawer")).to_be_visible()
        await page.get_by_role("button", name="Keys and help").click()
        await expect(sheet).to_be_visible()
