"""The lab in a real Chromium, against a real server: each experiment runs and says what it saw."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from app.lab.experiments import EXPERIMENTS
from tests.browser.test_access import AXE, violations
from tests.browser.test_compare import listen
from tests.server import Running

pytestmark = pytest.mark.browser

Server = Callable[..., Running]
TEXT = "A lamp was lit on the cliff, and every ship that passed it knew where the land began. " * 12


def engine(delay_ms: float = 10) -> ScriptedEngine:
    return ScriptedEngine(spoken(TEXT, delay_ms))


@asynccontextmanager
async def lab(browser: Browser, url: str, name: str = "", *, ready: bool = True) -> AsyncIterator[Page]:
    """A page of the lab in a context of its own; whatever it complains about fails the test.

    A server that is not ``ready`` says so with a 503, which the browser notes by itself.
    """
    context = await browser.new_context()
    page = await context.new_page()
    await page.add_init_script(path=AXE)
    complaints = listen(page, url)
    await page.goto(f"{url}/lab/{name}".rstrip("/"))
    await page.wait_for_selector("body[data-state=ready]")
    yield page
    await context.close()
    assert [said for said in complaints if ready or "503" not in said] == []


async def predict(page: Page) -> None:
    """Choose the first answer, which unlocks the knobs."""
    await page.locator("[data-part=choices] input").first.check()


async def run(page: Page) -> None:
    """Predict, run, and wait for the end."""
    await predict(page)
    await page.get_by_role("button", name="Run").click()
    await page.wait_for_selector("[data-part=outcome][data-state=over]", timeout=60_000)


async def figure(page: Page, lane: str, name: str) -> str:
    text = await page.locator(f"[data-lane={lane}] [data-figure={name}]").text_content()
    assert text is not None
    return text


async def test_the_list_leads_to_every_experiment(browser: Browser, server: Server) -> None:
    running = server(engine())
    async with lab(browser, running.url) as page:
        links = page.locator(".lab-list a")
        hrefs = [await link.get_attribute("href") for link in await links.all()]
        assert hrefs == [f"/lab/{name}" for name in EXPERIMENTS]
        assert await violations(page) == []
        names = await links.locator("strong").all_text_contents()
        for name, title in zip(EXPERIMENTS, names, strict=True):
            await page.goto(f"{running.url}/lab/{name}")
            await page.wait_for_selector("body[data-state=ready]")
            await expect(page).to_have_title(f"{title} · Firstword")


async def test_nothing_runs_before_a_prediction(browser: Browser, server: Server) -> None:
    running = server(engine())
    async with lab(browser, running.url, "backpressure") as page:
        await expect(page.get_by_role("button", name="Run")).to_be_disabled()
        await page.locator("[data-part=choices] input").first.check()
        await expect(page.get_by_role("button", name="Run")).to_be_enabled()


async def test_only_the_pausing_answer_waits_for_its_slow_reader(browser: Browser, server: Server) -> None:
    running = server(engine(), high_tokens=24, low_tokens=8)
    async with lab(browser, running.url, "backpressure") as page:
        await predict(page)
        await page.get_by_label("How fast the four slow readers read").fill("16")
        await page.get_by_label("Length of the answer").fill("96")
        await run(page)
        assert await figure(page, "pause", "made") == "96"
        assert await figure(page, "pause", "pausedFor") != "0 ms"
        assert await figure(page, "buffer", "pausedFor") == "0 ms"
        await expect(page.locator("[data-lane=abort]")).to_have_attribute("data-fate", "error")
        await expect(page.locator("[data-lane=neighbour]")).to_have_attribute("data-fate", "done")
        await expect(page.locator("[data-part=said]")).to_contain_text("You expected")
        assert await violations(page) == []


async def test_an_unflushed_gzip_keeps_the_whole_answer_and_straight_does_not(
    browser: Browser, server: Server
) -> None:
    running = server(engine(20))
    async with lab(browser, running.url, "proxy") as page:
        await run(page)
        assert await figure(page, "gzip", "arrivalsCame") == "1"
        straight = int(await figure(page, "direct", "arrivalsCame"))
        assert straight > 20
        assert int(await figure(page, "flushed", "arrivalsCame")) > 20
        assert int(await figure(page, "buffered", "arrivalsCame")) < straight / 2
        await expect(page.locator("[data-part=verdict]")).to_contain_text(
            "All five ways brought the same text"
        )


async def test_every_wire_tells_the_end_in_its_own_way(browser: Browser, server: Server) -> None:
    running = server(engine())
    async with lab(browser, running.url, "protocols") as page:
        await predict(page)
        await page.get_by_label("What is said").select_option("ambiguous")
        await run(page)
        ends = {
            name: await page.locator(f"[data-lane={name}]").get_attribute("data-end")
            for name in ("socket", "sse", "ndjson", "plain", "polling", "whole")
        }
        assert ends == dict.fromkeys(ends, "done") | {"plain": "silent"}
        await expect(page.locator("[data-lane=sse] .raw")).to_contain_text("\\n\\n")
        await page.get_by_label("Bytes shown as").select_option("hex")
        await expect(page.locator("[data-lane=sse] .raw li").first).to_contain_text("64 61 74 61")


async def test_a_crowd_is_served_and_its_runs_are_kept_side_by_side(browser: Browser, server: Server) -> None:
    running = server(engine())
    async with lab(browser, running.url, "batching") as page:
        await predict(page)
        await page.get_by_label("People").fill("4")
        await page.get_by_label("They come").fill("10")
        await page.get_by_label("How the work is ordered").select_option("iteration")
        await page.get_by_label("How a question is read").select_option("at_once")
        await run(page)
        assert await page.locator(".runs tbody tr").count() == 1
        await expect(page.locator(".runs tbody td").nth(1)).to_have_text("at once")
        assert "M" in (await page.locator("svg.felt path.decode").get_attribute("d") or "")
        assert "M" in (await page.locator("svg.crowd path.decode").first.get_attribute("d") or "")
        await expect(page.locator("[data-part=verdict]")).to_contain_text(
            "By iterations: half of the 4 people"
        )
        assert await violations(page) == []


async def test_the_first_token_is_taken_apart_five_times(browser: Browser, server: Server) -> None:
    running = server(engine())
    async with lab(browser, running.url, "apart") as page:
        await run(page)
        assert await page.locator(".apart-row").count() == 5
        # This engine remembers nothing, so nothing is said of how much it did.
        await expect(page.locator("[data-part=verdict]")).to_contain_text(
            "tells of no token that it remembered"
        )
        await expect(page.locator("[data-part=picture]")).not_to_contain_text("remembered")
        assert await violations(page) == []


async def test_without_a_model_every_experiment_has_something_recorded_to_run(
    browser: Browser, server: Server
) -> None:
    lost = engine()
    running = server(lost)
    lost.lose()
    async with lab(browser, running.url, "batching", ready=False) as page:
        await predict(page)
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator("svg.crowd text.long")).to_have_count(1)
        await page.get_by_role("button", name="Stop").click()
        await page.wait_for_selector("[data-part=outcome][data-state=halted]")
    async with lab(browser, running.url, "apart", ready=False) as page:
        await run(page)
        assert await page.locator(".apart-row").count() == 5
        await expect(page.locator("[data-part=verdict]")).to_contain_text("302 of its 303 tokens")
        await expect(page.locator("[data-part=picture]")).to_contain_text("302 of them remembered")
    for name in ("backpressure", "proxy", "protocols"):
        async with lab(browser, running.url, name, ready=False) as page:
            await predict(page)
            await expect(page.get_by_label("Who answers").locator("option:checked")).to_contain_text(
                "Recording"
            )


async def test_the_obvious_programs_stand_beside_their_checks(browser: Browser, server: Server) -> None:
    running = server(engine())
    async with lab(browser, running.url, "obvious") as page:
        assert await page.locator(".lab-step").count() == 5
        await page.locator("summary").first.click()
        await expect(page.locator("details[open] code")).to_contain_text("getincrementaldecoder")
        assert await violations(page) == []
