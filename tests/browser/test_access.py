"""The chat page for everybody: axe-core in every look and state, Pause, keys and their help, quiet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from app.engine.scripted import ScriptedEngine
from tests.browser.test_chat import (
    HEAR,
    STORY,
    MortalEngine,
    Server,
    done,
    engine,
    opened,
    pace,
    ready,
    send,
    told,
    until,
)
from tests.browser.test_numbers import POT, choose

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[2] / "node_modules/axe-core/axe.min.js"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
#: The standard that is promised, and what its authors hold to be good practice.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


async def violations(page: Page) -> list[str]:
    """What axe-core complains of on the page as it is now, as "rule: element"."""
    found: Any = await page.evaluate(
        "(tags) => axe.run(document, {runOnly: tags}).then(({violations}) => violations.flatMap("
        "({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 200)}`)))",
        TAGS,
    )
    return [str(each) for each in found]


async def nobody_complains(page: Page, moment: str, themes: Iterable[str] = ("light",)) -> None:
    """axe-core finds nothing in any of the themes, between which the page is switched as it stands."""
    for theme in themes:
        await page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        assert await violations(page) == [], f"{moment}, {theme}"


async def arm(page: Page) -> None:
    """Load the page anew with axe-core in it."""
    await page.add_init_script(path=AXE)
    await page.reload()
    await ready(page)


#: The last one is that of the steps between two looks.
THEMES = ["projector", "dark", "light"]
LOOKS = [(THEMES, {}), (["light"], PHONE), (["light"], {"locale": "hi-IN"})]


@pytest.mark.parametrize(("themes", "device"), LOOKS, ids=["every theme", "phone", "hindi"])
async def test_axe_finds_nothing_to_complain_about(
    server: Server, browser: Browser, themes: list[str], device: dict[str, Any]
) -> None:
    """Parts are found by their names in the templates, because the page speaks Hindi too."""
    text = STORY + "\n\n| a | b |\n|---|---|\n| c | d |\n\n```py\nx = 1\n```\n"
    scripted = engine(text, 50)
    async with opened(browser, server(scripted).url, **device) as page:
        await arm(page)
        await nobody_complains(page, "welcome", themes)

        async def press(part: str) -> None:
            await page.locator(f"[data-part={part}]:visible").last.press("Enter")

        await press("settings-open")
        await page.locator("#settings [name=inspect]").check()
        await nobody_complains(page, "settings", themes)
        await page.keyboard.press("Escape")
        await page.locator("[data-part=prompt]").fill("Why?")
        # On a phone Enter is a new line.
        await press("send")
        await until(page, "document.querySelector('.answer')?.textContent.length > 10")
        await press("hold")
        await nobody_complains(page, "in mid-reply", themes)
        pace(scripted, 5)
        await press("hold")
        await done(page)
        await page.locator(".deeper summary").click()
        await page.locator(".chip").first.focus()
        await expect(page.locator(".waterfall")).to_be_visible(timeout=20_000)
        await nobody_complains(page, "done, with its details", themes)
        await press("again")
        await done(page, number=1)
        await expect(page.locator(".history")).to_be_visible(timeout=20_000)
        await press("drawer-toggle")
        await page.locator("[data-part=search]").fill("Why")
        await expect(page.locator(".entry mark")).to_be_visible()
        await nobody_complains(page, "the list, searched", themes)
        await press("drawer-close")
        await press("help")
        help_sheet = page.locator("dialog.help-sheet")
        await expect(help_sheet).to_be_visible()
        await nobody_complains(page, "help", themes)
        await help_sheet.locator("button").last.click()
        check = page.locator("dialog.self-check")
        await expect(check.locator("button.main")).to_be_visible(timeout=30_000)
        await nobody_complains(page, "self-check", themes)


async def test_pause_freezes_everything_that_moves_and_nothing_is_lost(
    server: Server, browser: Browser
) -> None:
    scripted = engine(STORY * 6, 40)
    async with opened(browser, server(scripted, high_tokens=24, low_tokens=8).url) as page:
        model_waits = await told(page, "paused")
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 10")
        await page.get_by_role("button", name="Pause").press("Enter")
        await expect(page.locator(".held-note")).to_be_visible()
        await page.evaluate(
            "() => { window.moved = []; new MutationObserver((all) => window.moved.push("
            "...all.map(({target}) => target.textContent))).observe(document.querySelector('.reply'),"
            " {subtree: true, childList: true, characterData: true}); }"
        )
        # That the model waits too stands beside the button already: this news moves nothing either.
        await asyncio.wait_for(model_waits.wait(), 20)
        await page.evaluate("new Promise((go) => setTimeout(() => requestAnimationFrame(go), 300))")
        assert await page.evaluate("window.moved") == []
        await expect(page.locator(".reply")).to_have_attribute("data-state", "reading")
        pace(scripted, 2)
        await page.locator("body").press("p")
        await done(page)
        assert "That is all." in (await page.locator(".answer").text_content() or "")


async def test_stop_while_paused_keeps_exactly_what_was_seen(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(STORY, 40)).url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 10")
        await page.get_by_role("button", name="Pause").press("Enter")
        seen = await page.locator(".answer").text_content()
        await page.get_by_role("button", name="Stop").click()
        await done(page, "stopped")
        assert await page.locator(".answer").text_content() == seen


async def test_the_clock_of_a_reply_without_a_word_can_be_paused_too(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(ScriptedEngine([(b"Late.", 2500.0)])).url) as page:
        await send(page)
        await page.get_by_role("button", name="Pause").press("Enter")
        clock = page.locator("[data-part=clock]")
        shown = await clock.text_content()
        await page.evaluate("new Promise((go) => setTimeout(go, 400))")
        assert await clock.text_content() == shown
        await page.get_by_role("button", name="Go on").press("Enter")
        await done(page)


async def test_the_help_sheet_opens_by_its_key_and_gives_the_focus_back(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        await page.get_by_label("Your message").press("?")
        await expect(page.get_by_label("Your message")).to_have_value("?")
        whole = page.get_by_role("radio", name="All at once")
        await whole.focus()
        await page.keyboard.press("?")
        sheet = page.get_by_role("dialog", name="Keys")
        await expect(sheet).to_be_visible()
        await expect(sheet.locator("kbd").filter(has_text="Esc")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(sheet).to_have_count(0)
        await expect(whole).to_be_focused()


async def test_letter_keys_can_be_turned_off_and_stay_off(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        await page.get_by_role("button", name="Keys and help").click()
        await page.get_by_label("Single keys").uncheck()
        await page.keyboard.press("Escape")
        streamed = page.get_by_role("radio", name="Streamed")
        for _ in range(2):
            await streamed.focus()
            await page.keyboard.press("t")
            await page.keyboard.press("?")
            await expect(streamed).to_be_checked()
            await expect(page.get_by_role("dialog")).to_have_count(0)
            await page.reload()
            await ready(page)


async def test_a_paused_and_smoothed_reply_is_announced_no_more_than_others(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(ScriptedEngine(POT * 3)).url) as page:
        await choose(page, smoothed=True)
        await page.evaluate(HEAR)
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 2")
        await page.get_by_role("button", name="Pause").press("Enter")
        await page.get_by_role("button", name="Go on").press("Enter")
        await done(page)
        await expect(page.locator("[data-part=announcer]")).to_contain_text("complete")
        assert 1 <= await page.evaluate("heard") <= 4


async def test_a_reply_that_fails_is_announced_no_more_than_others(server: Server, browser: Browser) -> None:
    mortal = MortalEngine([(b"One", 50.0), (b" two", 50.0), (b" three", 9000.0)])
    async with opened(browser, server(mortal).url) as page:
        await page.evaluate(HEAR)
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 2")
        mortal.crash()
        await done(page, "failed")
        await expect(page.locator(".banner")).to_contain_text("loading")
        # The reply begins, it was interrupted, why, and that the model is being loaded.
        assert 1 <= await page.evaluate("heard") <= 4


async def test_nothing_moves_by_itself_for_who_asked_for_less_motion(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url, reduced_motion="reduce") as page:
        await send(page)
        await done(page)
        assert await page.evaluate("document.getAnimations().length") == 0


async def test_with_forced_colours_the_strip_and_the_pause_are_still_drawn(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url, forced_colors="active") as page:
        await send(page)
        await done(page)
        marks = await page.evaluate(
            "[...document.querySelectorAll('.reply .strip :is(.ticks, .wait, .end)')].map((mark) => {"
            " const { stroke, fill } = getComputedStyle(mark);"
            " return [stroke, fill].filter((paint) => paint !== 'none' && !paint.startsWith('url')); })"
        )
        paper = await page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
        assert len(marks) == 3
        assert all(any(paint != paper for paint in paints) for paints in marks)
