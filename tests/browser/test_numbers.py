"""What a reply says about its own times: waterfall, tokens, paces, history, and the network's check."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from app.engine.scripted import ScriptedEngine
from tests.browser.buffering_proxy import buffering_proxy
from tests.browser.test_chat import (
    NO_SOCKETS,
    Server,
    done,
    engine,
    opened,
    pace,
    ready,
    send,
    to_ms,
    told,
    until,
)

pytestmark = pytest.mark.browser

#: The teapot takes two tokens; 🫖 is F0 9F AB 96.
POT = [
    (b"One", 200.0),
    (b" two", 400.0),
    (b" ", 20.0),
    (b"\xf0\x9f\xab", 20.0),
    (b"\x96", 20.0),
    (b" end.", 20.0),
]
POT_TEXT = "One two 🫖 end."


async def choose(page: Page, **wanted: Any) -> None:
    """Set the settings panel's fields by their names."""
    await page.locator("[data-part=settings-open]").click()
    panel = page.locator("#settings")
    await expect(panel).to_be_visible()
    for name, value in wanted.items():
        field = panel.locator(f"[name={name}]")
        if isinstance(value, bool):
            await field.set_checked(value)
        elif name == "pace":
            await field.select_option(value)
        else:
            await field.fill(str(value))
    await panel.get_by_role("button", name="Done").click()
    await expect(panel).to_be_hidden()


async def details(page: Page, number: int = 0) -> Locator:
    """What stands behind the numbers of a reply, opened."""
    reply = page.locator(".reply").nth(number)
    await reply.get_by_text("Where the time went").click()
    await expect(reply.locator(".waterfall")).to_be_visible(timeout=20_000)
    return reply


def signed_ms(text: str) -> float:
    return to_ms(text.replace("−", "-").split(" ±")[0].strip())


async def stages(reply: Locator) -> dict[str, float]:
    """Milliseconds by the stage's name, the sum included."""
    rows = await reply.locator(".stages tbody tr, .stages tfoot tr").all()
    read = {}
    for row in rows:
        name = re.sub(r"^\d+", "", await row.locator("th").inner_text()).strip()
        read[name] = signed_ms(await row.locator(".stage-time").inner_text())
    return read


@pytest.mark.parametrize(("mode", "held"), [("word", 400), ("token", 0), ("whole", 480)])
async def test_the_waterfall_tells_the_model_from_the_pace_and_sums_to_the_first_word(
    server: Server, browser: Browser, mode: str, held: int
) -> None:
    async with opened(browser, server(ScriptedEngine(POT)).url) as page:
        if mode == "whole":
            await page.get_by_role("radio", name="All at once").check()
        else:
            await choose(page, pace=mode)
        await send(page)
        await done(page)
        reply = await details(page)
        told = await stages(reply)
        first = told.pop("First word")
        assert sum(told.values()) == pytest.approx(first, abs=0.06 * len(told) + 6)
        assert first == pytest.approx(to_ms(await value(reply, "firstWord")), abs=6)
        assert 195 <= told["Reading your message, and the first token"] < 700
        assert held - 5 <= told["Held back by the pace"] < held + 400
        assert told["To the server"] > -1 and told["Onto the screen"] >= 0
        await expect(reply.locator(".waterfall")).to_contain_text("right to within")


async def value(reply: Locator, number: str) -> str | None:
    return await reply.locator(f"[data-number={number}] .value").text_content()


async def test_the_hatching_ends_where_the_first_word_could_be_read(server: Server, browser: Browser) -> None:
    async with opened(browser, server(ScriptedEngine(POT)).url) as page:
        await send(page)
        await done(page)
        first = to_ms(await value(page.locator(".reply"), "firstWord"))
        drawn = await page.evaluate(
            "(() => { const strip = document.querySelector('.reply .strip');"
            " const marks = [...strip.querySelectorAll('.mark')].at(-1);"
            " const scale = (marks.getAttribute('x') - 1) / (parseFloat(marks.textContent) * 1000);"
            " return strip.querySelector('.wait').getAttribute('width') / scale; })()"
        )
        assert drawn == pytest.approx(first, rel=0.03, abs=8)


async def test_no_label_of_the_strip_covers_another(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine()).url) as page:
        await send(page)
        await done(page)
        boxes = await page.evaluate(
            "[...document.querySelectorAll('.strip .mark, .strip-reading')].map((e) => {"
            " const range = document.createRange(); range.selectNodeContents(e);"
            " const { left, right, top, bottom } = range.getBoundingClientRect();"
            " return [left, right, top, bottom]; })"
        )
        assert len(boxes) > 2
        for i, (left, right, top, bottom) in enumerate(boxes):
            for other in boxes[i + 1 :]:
                apart = right <= other[0] or other[1] <= left or bottom <= other[2] + 1 or other[3] <= top + 1
                assert apart, (boxes[i], other)


async def test_smoothing_is_marked_as_added_waiting_with_its_measured_amount(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(ScriptedEngine(POT)).url) as page:
        await choose(page, smoothed=True)
        await send(page)
        await done(page)
        reply = page.locator(".reply")
        assert await reply.locator(".answer").text_content() == POT_TEXT
        await expect(reply.locator("[data-part=marks]")).to_contain_text(
            re.compile(r"smoothed: \d+ ms added")
        )
        await expect(reply.locator(".note")).to_contain_text("added waiting")
        note = await reply.locator(".note").text_content() or ""
        held = float(re.findall(r"(\d+) ms", note)[0])
        assert 250 <= held < 450
        assert (await stages(await details(page)))["Smoothing"] == pytest.approx(held, abs=1)


async def test_slow_motion_and_other_paces_are_marked_and_asked_of_the_server(
    server: Server, browser: Browser
) -> None:
    running = server(engine("One two three. Four five six.", 1))
    async with opened(browser, running.url) as page:
        await choose(page, tokens_per_second=20, pace="sentence")
        await send(page)
        await done(page)
        marks = page.locator(".reply [data-part=marks]")
        await expect(marks).to_have_text(" · sentence by sentence · slow motion, 20 tokens a second")
        paints = await page.evaluate("[...new Set(paints.map(([, length]) => length))]")
        assert len(paints) == 2
        assert to_ms(await value(page.locator(".reply"), "lastWord")) >= 6 * 50


async def test_settings_reach_the_server_over_plain_http_too(server: Server, browser: Browser) -> None:
    running = server(engine("One two three. Four five six.", 1))
    async with opened(browser, running.url) as page:
        await page.add_init_script(NO_SOCKETS)
        await page.reload()
        await ready(page)
        await choose(page, max_tokens=2, pace="token")
        await send(page)
        await done(page)
        assert await page.locator(".answer").text_content() == "One two"
        await expect(page.locator(".note")).to_contain_text("limit of tokens")
        assert await (await details(page)).locator(".stages tbody tr").count() == 8


async def test_tokens_can_be_walked_one_by_one_and_a_sign_of_several_stands_together(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(ScriptedEngine(POT)).url) as page:
        await choose(page, inspect=True, pace="token")
        await send(page)
        await done(page)
        reply = await details(page)
        chips = reply.locator(".chip")
        await expect(chips).to_have_count(len(POT))
        await expect(reply.locator(".cluster.joined .chip")).to_have_text(["F0 9F AB", "96"])
        await expect(reply.locator(".cluster-text")).to_have_text("together: 🫖")
        assert await reply.locator('.chip[tabindex="0"]').count() == 1
        await chips.first.focus()
        await page.keyboard.press("ArrowRight")
        await expect(chips.nth(1)).to_be_focused()
        panel = reply.locator(".token-panel")
        await expect(panel).to_contain_text("20 74 77 6F (␣two)")
        await expect(panel).to_contain_text("100 %")
        assert 380 <= to_ms(await panel.locator("dd").nth(3).text_content()) < 800
        await page.keyboard.press("End")
        await expect(chips.last).to_be_focused()
        await expect(chips.last).to_have_attribute("aria-label", "Token 6 of 6: ␣end., 100 %")


async def test_a_long_reply_shows_its_tokens_in_portions(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine("word " * 450, 0)).url) as page:
        await choose(page, inspect=True)
        await send(page)
        await done(page)
        reply = await details(page)
        await expect(reply.locator(".chip")).to_have_count(300)
        await reply.locator(".chip").first.focus()
        await expect(reply.locator(".token-panel")).to_be_in_viewport(ratio=1)
        await reply.get_by_role("button", name="Show 1").click()
        await expect(reply.locator(".chip").nth(300)).to_be_focused()
        await expect(reply.locator(".chip")).to_have_count(451)


async def test_a_conversation_keeps_a_small_history_of_first_words(server: Server, browser: Browser) -> None:
    async with opened(browser, server(ScriptedEngine(POT)).url) as page:
        await send(page)
        await done(page)
        await expect(page.locator(".history")).to_have_count(0)
        await page.get_by_role("radio", name="All at once").check()
        await send(page)
        await done(page, number=1)
        summary = page.locator(".history summary")
        await expect(summary).to_contain_text(re.compile(r"Streamed .*All at once"), timeout=20_000)
        await expect(page.locator(".history-drawing rect")).to_have_count(2)
        await summary.click()
        await expect(page.locator(".history-table tbody tr")).to_have_count(2)
        await expect(page.locator(".history-table tbody tr").nth(1)).to_contain_text("All at once")
        await page.reload()
        await ready(page)
        await expect(page.locator(".history summary")).to_contain_text("All at once")


async def open_check(page: Page) -> Locator:
    await page.get_by_role("button", name="Keys and help").click()
    await page.get_by_role("button", name="Is your network really streaming?").click()
    check = page.get_by_role("dialog", name="Is your network really streaming?")
    await expect(check.get_by_role("button", name="Check again")).to_be_visible(timeout=30_000)
    return check


async def test_the_self_check_hears_a_network_that_streams(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine()).url) as page:
        check = await open_check(page)
        # A busy test machine may make clumps of its own; it never collects two seconds.
        await expect(check.get_by_role("status")).to_have_text(re.compile("^(Yes|Only in clumps)"))
        ticks = await check.locator(".strip .ticks").nth(1).get_attribute("d")
        assert (ticks or "").count("M") == 20
        await check.get_by_role("button", name="Check again").press("Enter")
        await expect(check.get_by_role("status")).to_be_focused()


async def test_the_self_check_hears_a_proxy_that_collects_and_says_what_to_do(
    server: Server, browser: Browser
) -> None:
    running = server(engine())
    async with buffering_proxy(running.port) as url, opened(browser, url) as page:
        check = await open_check(page)
        await expect(check.get_by_role("status")).to_have_text(re.compile("^No\\."))
        await expect(check).to_contain_text("proxy_buffering off")


async def test_a_reader_behind_makes_the_model_wait_and_the_reply_says_so(
    server: Server, browser: Browser
) -> None:
    scripted = engine("word " * 200, 20)
    running = server(scripted)
    async with opened(browser, running.url) as page:
        model_waits = await told(page, "paused")
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 10")
        await page.get_by_role("button", name="Pause").press("Enter")
        await asyncio.wait_for(model_waits.wait(), 20)
        reply = page.locator(".reply")
        await expect(reply.locator(".held-note")).to_contain_text("the model waits for you")
        shown = await reply.locator(".answer").text_content()
        made = sum(running.engine.made.values())
        assert made < 200
        await page.evaluate("new Promise((go) => setTimeout(() => requestAnimationFrame(go), 300))")
        assert await reply.locator(".answer").text_content() == shown
        assert sum(running.engine.made.values()) == made
        pace(scripted, 2)
        await page.get_by_role("button", name="Go on").press("Enter")
        await done(page)
        assert (await reply.locator(".answer").text_content() or "").split() == ["word"] * 200
        await expect(reply.locator(".note")).to_contain_text("The model waited")
