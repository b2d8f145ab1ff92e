"""What is read while it comes: colours, formulas, directions, and a clock that others may turn."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import Browser

from app.engine.scripted import ScriptedEngine
from tests.browser.test_chat import Server, done, engine, opened, send, to_ms, until

pytestmark = pytest.mark.browser

CODE = "```py\n" + "".join(f"x{n} = f(a, 'text {n}')  # {n}\n" for n in range(100)) + "```\n"
#: Counts, for every finished line of code, how many coloured pieces it has after each change.
COLOURS = """
window.shrunk = [];
const seen = new WeakMap();
new MutationObserver(() => {
  for (const line of document.querySelectorAll(".code .line")) {
    const count = line.querySelectorAll("span").length;
    if (count < (seen.get(line) ?? 0)) shrunk.push(line.textContent);
    seen.set(line, count);
  }
}).observe(document.body, { subtree: true, childList: true });
"""


async def test_the_colours_of_a_finished_line_stay(server: Server, browser: Browser) -> None:
    script = [(CODE[at : at + 7].encode(), 1.0) for at in range(0, len(CODE), 7)]
    async with opened(browser, server(ScriptedEngine(script)).url) as page:
        await page.evaluate(COLOURS)
        await send(page)
        await done(page)
        await until(page, "document.querySelectorAll('.code .line .c-str').length === 100")
        assert await page.evaluate("shrunk") == []
        assert await page.locator(".code pre").text_content() == CODE[len("```py\n") : -len("```\n")]


async def test_a_formula_is_drawn_once_when_it_is_complete(server: Server, browser: Browser) -> None:
    text = "Primes: $$\\pi(x) \\approx \\frac{x}{\\ln x}$$ and $x^2$ of $5 and $10, done."
    script = [(sign.encode(), 4.0) for sign in text]
    async with opened(browser, server(ScriptedEngine(script)).url) as page:
        await page.evaluate(
            "window.drawn = 0; new MutationObserver((all) => { for (const { addedNodes } of all)"
            " for (const node of addedNodes) drawn += node.localName === 'math'; })"
            ".observe(document.body, {subtree: true, childList: true})"
        )
        await send(page)
        await done(page)
        await until(page, "document.querySelectorAll('.answer math').length === 2")
        assert await page.evaluate("drawn") == 2
        assert "$5 and $10, done." in (await page.locator(".answer").text_content() or "")


async def test_each_paragraph_runs_in_the_direction_of_its_script(server: Server, browser: Browser) -> None:
    code = "```py\nx = 'سماء'\n```"
    text = f"السماء زرقاء اليوم.\n\nThe sky is blue.\n\n{code}\n\n- عنصر\n\n| أ | ب |\n|---|---|\n| ج | د |\n"
    async with opened(browser, server(engine(text, 2)).url) as page:
        await send(page, "ما لون السماء؟")
        await done(page)
        places = ["[data-part=question]", ".answer p", ".answer li", ".answer td", ".code pre"]
        directions = [
            await page.locator(place).first.evaluate("e => getComputedStyle(e).direction") for place in places
        ]
        english = await page.locator(".answer p", has_text="blue").evaluate(
            "e => getComputedStyle(e).direction"
        )
        assert directions == ["rtl", "rtl", "rtl", "rtl", "ltr"]
        assert english == "ltr"


async def test_a_computers_clock_that_jumps_changes_no_number(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine("One two three four five six.", 100)).url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 3")
        await page.evaluate("(() => { const now = Date.now; Date.now = () => now() - 3600000; })()")
        await done(page)
        values = await page.locator(".reply .number .value").all_text_contents()
        first, gaps, last = (
            to_ms(values[0]),
            to_ms(values[1].split(" median")[0]),
            to_ms(values[2]),
        )
        assert 0 < first < last < 20_000 and 0 < gaps < 20_000, json.dumps(values)
