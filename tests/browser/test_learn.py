"""The lesson in a real Chromium: three depths, numbers measured at a click, exercises that answer."""

from collections.abc import Callable

import pytest
from playwright.async_api import Browser, Page, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.test_access import AXE, violations
from tests.browser.test_compare import listen
from tests.server import Running

pytestmark = pytest.mark.browser

Server = Callable[..., Running]


async def lesson(browser: Browser, server: Server) -> Page:
    page = await (await browser.new_context()).new_page()
    await page.add_init_script(path=AXE)
    running = server(ScriptedEngine(spoken("la " * 100, 3)))
    page_complaints = listen(page, running.url)
    await page.goto(f"{running.url}/learn")
    await page.wait_for_selector("body[data-state=ready]")
    assert page_complaints == []
    return page


async def test_the_depth_is_chosen_for_all_or_for_one_paragraph(browser: Browser, server: Server) -> None:
    page = await lesson(browser, server)
    await page.locator("[data-part=depths] input[value=research]").check()
    shown = page.locator(".paragraph [data-depth]:visible")
    depths = await shown.evaluate_all("bodies => bodies.map((body) => body.dataset.depth)")
    assert len(depths) >= 10 and set(depths) == {"research"}
    await page.locator(".paragraph .depths").first.locator("input[value=code]").check()
    depths = await shown.evaluate_all("bodies => bodies.map((body) => body.dataset.depth)")
    assert depths[0] == "code" and set(depths[1:]) == {"research"}
    assert await violations(page) == []


async def test_the_numbers_in_the_text_become_this_machines_at_a_click(
    browser: Browser, server: Server
) -> None:
    page = await lesson(browser, server)
    places = page.locator("[data-measured=first_ms]")
    recorded = await places.all_text_contents()
    assert recorded and all("ms" in text for text in recorded)
    await expect(page.locator("#measure-1")).to_contain_text(
        "this page asks 5 times and takes the middle one"
    )
    answer = page.locator("[data-part=measure-answer]")
    await page.locator("[data-part=measure]").click()
    await expect(answer).to_contain_text("la la")
    await expect(page.locator("[data-part=measure-state]")).to_contain_text("this machine's", timeout=60_000)
    measured = await places.all_text_contents()
    assert measured != recorded and len(set(measured)) == 1
    await expect(answer).to_be_empty()


async def test_when_the_server_refuses_to_answer_the_page_says_its_words(
    browser: Browser, server: Server
) -> None:
    page = await lesson(browser, server)
    refused = {"type": "error", "code": "overloaded", "message": "The line is full.", "retryable": True}
    await page.route("**/api/replies", lambda route: route.fulfill(status=503, json=refused))
    await page.locator("[data-part=measure]").click()
    await expect(page.locator("[data-part=measure-state]")).to_contain_text("The line is full.")
    await expect(page.locator("[data-part=measure]")).to_be_enabled()


async def test_an_exercise_tells_right_from_wrong_and_the_reason(browser: Browser, server: Server) -> None:
    page = await lesson(browser, server)
    exercise = page.locator("form[data-exercise=queue]")
    for answer, right in (("twelve", "null"), ("30", "false"), ("75", "true")):
        await exercise.locator("input").fill(answer)
        await exercise.locator("button").click()
        await expect(exercise).to_have_attribute("data-right", right)
    await expect(exercise.locator(".exercise-verdict")).not_to_be_empty()
    await expect(page.locator("[data-part=score]")).to_contain_text("1")


async def test_on_paper_stand_the_text_and_the_pictures_and_no_knobs(
    browser: Browser, server: Server
) -> None:
    page = await lesson(browser, server)
    await page.evaluate("localStorage.setItem('firstword.theme', 'dark')")
    await page.reload()
    await page.wait_for_selector("body[data-state=ready]")
    await page.emulate_media(media="print")
    for hidden in (".lesson-tools", ".slider", ".exercise .check", ".top"):
        await expect(page.locator(hidden).first).to_be_hidden()
    await expect(page.locator(".demo svg").first).to_be_visible()
    await expect(page.locator("#references li").first).to_be_visible()
    paper = "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()"
    assert await page.evaluate(paper) == "#1d1b18"
