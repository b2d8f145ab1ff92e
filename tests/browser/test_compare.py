"""The side-by-side page in a real Chromium, against a real server: the race, its controls, its files."""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Download, Page, Request, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from app.replay.recording import read_recording
from tests.browser.test_access import AXE, nobody_complains
from tests.browser.test_chat import MortalEngine, pace
from tests.server import Running

pytestmark = pytest.mark.browser

TEXT = (
    "When sunlight enters the air it meets countless tiny molecules. They throw the short waves about.\n\n"
    "So blue light reaches your eyes from everywhere, कितना नीला, while red goes straight on. "
)
FIRST_MS = 300.0
Server = Callable[..., Running]


def engine(delay_ms: float = 15, text: str = TEXT, **options: Any) -> ScriptedEngine:
    script = [(data, FIRST_MS if i == 0 else delay_ms) for i, (data, _) in enumerate(spoken(text, delay_ms))]
    return ScriptedEngine(script, **options)


@asynccontextmanager
async def compare(browser: Browser, url: str, fragment: str = "", **options: Any) -> AsyncIterator[Page]:
    """The page in a context of its own; whatever it complains about fails the test."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    complaints = listen(page, url)
    await page.goto(f"{url}/compare{fragment}")
    await page.wait_for_selector("body[data-state=ready][data-model=ready]")
    yield page
    await context.close()
    assert complaints == []


def listen(page: Page, url: str) -> list[str]:
    """What a page complains about from here on, and whom else it asks."""
    complaints: list[str] = []

    def on_request(request: Request) -> None:
        if not request.url.startswith((url, "data:", "blob:")):
            complaints.append(f"asked another host for {request.url}")

    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("request", on_request)
    return complaints


async def over(page: Page) -> None:
    await page.wait_for_selector("body[data-race=over]", timeout=30_000)


async def race(page: Page) -> None:
    await page.get_by_role("button", name="Run").click()
    await over(page)


async def clocks(page: Page) -> list[float]:
    texts = await page.locator(".lane [data-part=clock]").all_text_contents()
    return [float(text.removesuffix(" s")) for text in texts]


async def kept(page: Page, part: str) -> bytes:
    """What a button of "Keep it" downloads."""
    async with page.expect_download() as coming:
        await page.locator(f"[data-part={part}]").click()
    download: Download = await coming.value
    return Path(await download.path()).read_bytes()  # noqa: ASYNC240 - a small file


async def lane_texts(page: Page) -> list[str]:
    return await page.locator(".lane-text").all_text_contents()


async def test_one_generation_is_read_in_two_ways_and_the_first_word_stops_each_clock(
    server: Server, browser: Browser
) -> None:
    running = server(engine())
    async with compare(browser, running.url) as page:
        await race(page)
        assert await lane_texts(page) == [TEXT] * 2
        streamed, whole = await clocks(page)
        assert 0.3 <= streamed < whole
        verdict = await page.locator(".verdict").inner_text()
        assert "Same" in verdict and "times sooner" in verdict
        assert len(running.replies) == 1
        proof = await page.locator("[data-part=proof]").inner_text()
        assert (
            running.replies.running() == [] and "One generation" in proof and "the same in all lanes" in proof
        )


async def test_the_verdict_says_what_the_saved_recording_says(server: Server, browser: Browser) -> None:
    running = server(engine())
    async with compare(browser, running.url) as page:
        await race(page)
        verdict = await page.locator(".verdict").inner_text()
        data = await kept(page, "save-json")
        recording = json.loads(data)
        first = [lane["first_paint_ms"] for lane in recording["lanes"]]
        last = max(lane["last_paint_ms"] for lane in recording["lanes"])
        ratio = max(first) / min(first)
        times = f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}"
        tokens = recording["reply"]["events"][-1]["usage"]["completion_tokens"]
        assert f"First word {times} times sooner." in verdict
        assert f"Same {tokens} tokens" in verdict
        assert (f"{last / 1000:.1f} s" if last >= 999.5 else f"{last:.0f} ms") in verdict
        # The server's own strict reader takes the file, hash and order and all.
        assert read_recording(data).reply.text == TEXT
        arrivals = [lane["arrivals"] for lane in recording["lanes"]]
        assert ["".join(a["text"] for a in lane) for lane in arrivals] == [TEXT, TEXT]
        assert len(arrivals[0]) > 20 and len(arrivals[1]) == 1


async def test_a_saved_race_replays_with_the_same_numbers_and_without_the_server(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    running = server(engine())
    async with compare(browser, running.url) as page:
        await race(page)
        verdict, texts, stopped = (
            await page.locator(".verdict").inner_text(),
            await lane_texts(page),
            await clocks(page),
        )
        file = tmp_path / "race.json"
        file.write_bytes(await kept(page, "save-json"))
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.locator("[data-part=open-json]").set_input_files(file)
        await expect(page.locator("body")).to_have_attribute("data-race", "idle")
        assert await lane_texts(page) == ["", ""]
        await expect(page.locator(".source")).to_contain_text("Recording")
        await page.keyboard.press("Space")
        await over(page)
        assert await page.locator(".verdict").inner_text() == verdict
        assert (await lane_texts(page), await clocks(page)) == (texts, stopped)
        assert asked == []


async def test_time_can_be_stopped_stepped_and_dragged_and_the_numbers_stay(
    server: Server, browser: Browser
) -> None:
    running = server(engine())
    async with compare(browser, running.url) as page:
        await race(page)
        verdict, stopped, texts = (
            await page.locator(".verdict").inner_text(),
            await clocks(page),
            await lane_texts(page),
        )
        await page.locator("h2").first.evaluate("document.activeElement.blur()")
        await page.keyboard.press("r")
        await page.keyboard.press("1")
        await page.keyboard.press("p")
        await expect(page.locator("[data-part=play-label]")).to_have_text("Play")
        await page.keyboard.press("ArrowRight")
        one = await lane_texts(page)
        await page.keyboard.press("ArrowRight")
        two = await lane_texts(page)
        assert one[0] and two[0].startswith(one[0]) and len(two[0]) > len(one[0]) and two[1] == ""
        await page.keyboard.press("ArrowLeft")
        assert await lane_texts(page) == one
        assert (await clocks(page))[0] == stopped[0]
        scrub = page.get_by_role("slider", name="Moment shown")
        await scrub.focus()
        await page.keyboard.press("End")
        await over(page)
        assert (await page.locator(".verdict").inner_text(), await clocks(page), await lane_texts(page)) == (
            verdict,
            stopped,
            texts,
        )
        await expect(page.get_by_label("Speed", exact=True)).to_have_value("0.1")


async def test_a_live_race_in_slow_motion_is_marked_and_its_real_times_are_kept(
    server: Server, browser: Browser
) -> None:
    running = server(engine(100))
    async with compare(browser, running.url) as page:
        await page.get_by_role("button", name="Run").click()
        await page.wait_for_selector("body[data-race=running]")
        await page.get_by_label("Speed", exact=True).select_option("0.1")
        await expect(page.locator(".source")).to_contain_text("behind live")
        await expect(page.get_by_role("button", name="Run")).to_be_visible(timeout=20_000)
        assert await page.locator("body").get_attribute("data-race") == "running"
        await page.get_by_label("Speed", exact=True).select_option("4")
        await over(page)
        streamed, whole = await clocks(page)
        assert 0.3 <= streamed < whole
        assert "clocked at their arrival" in await page.locator(".verdict").inner_text()


async def test_four_lanes_over_all_wires_bring_the_same_text(server: Server, browser: Browser) -> None:
    running = server(engine())
    lanes = "token.socket.direct~word.sse.direct~sentence.ndjson.direct~whole.plain.direct"
    async with compare(browser, running.url, f"#v=1&prompt=Why&lanes={lanes}") as page:
        await race(page)
        assert await lane_texts(page) == [TEXT] * 4
        assert len(running.replies) == 1
        first = await clocks(page)
        assert first == sorted(first)


async def test_polling_and_simulated_networks_are_lanes_like_others(server: Server, browser: Browser) -> None:
    running = server(engine())
    lanes = "token.socket.direct~token.polling.direct~token.socket.mobile~token.socket.proxy"
    async with compare(browser, running.url, f"#v=1&prompt=Why&lanes={lanes}") as page:
        await expect(page.locator(".lane").nth(2)).to_contain_text("150 ms away")
        await race(page)
        assert await lane_texts(page) == [TEXT] * 4
        direct, polled, mobile, proxied = await clocks(page)
        assert direct < mobile and direct < polled and direct < proxied


async def test_a_lane_whose_connection_breaks_says_so_and_the_others_go_on(
    server: Server, browser: Browser
) -> None:
    scripted = engine(80)
    running = server(scripted)
    async with compare(
        browser, running.url, "#v=1&prompt=Why&lanes=token.socket.direct~token.sse.direct"
    ) as page:
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".lane-text").nth(0)).not_to_be_empty()
        await expect(page.locator(".lane-text").nth(1)).not_to_be_empty()
        cut_sockets(running)
        pace(scripted, 10)
        await over(page)
        broken, whole = await lane_texts(page)
        assert whole == TEXT and len(broken) < len(TEXT)
        await expect(page.locator(".lane").nth(0)).to_contain_text("The connection of this lane broke")
        await expect(page.locator(".verdict")).to_contain_text("No verdict")


def cut_sockets(running: Running) -> None:
    """Cut every WebSocket as a pulled cable does: at once, and without a word."""
    for connection in list(running.server.server_state.connections):
        if "WebSocket" in type(connection).__name__:
            connection.loop.call_soon_threadsafe(connection.transport.abort)


async def test_the_link_carries_the_experiment_and_does_not_start_it(
    server: Server, browser: Browser
) -> None:
    running = server(engine())
    fragment = (
        "#v=1&prompt=Why+%26+how%3F&max=50&temp=0.7&seed=11&separate=1&wpm=100"
        "&lanes=word.sse.direct~smoothed.socket.direct~whole.plain.direct"
    )
    async with compare(browser, running.url, fragment) as page:
        await expect(page.get_by_label("What to ask")).to_have_value("Why & how?")
        assert await page.locator(".lane h3").all_text_contents() == [
            "By word (SSE)",
            "Smoothed",
            "All at once (plain chunks)",
        ]
        await page.get_by_text("Settings", exact=True).click()
        for label, value in (
            ("Longest answer", "50"),
            ("Temperature", "0.7"),
            ("Seed", "11"),
            ("Reading speed", "100"),
        ):
            await expect(page.get_by_role("spinbutton", name=label)).to_have_value(value)
        await expect(page.get_by_label("A generation of its own")).to_be_checked()
        assert len(running.replies) == 0 and await page.locator("body").get_attribute("data-race") == "idle"
        await page.get_by_label("Seed", exact=True).fill("12")
        await page.get_by_label("Seed", exact=True).press("Tab")
        assert "seed=12" in page.url and "separate=1" in page.url


async def test_a_number_out_of_its_limits_is_marked_until_a_good_one_stands_there_again(
    server: Server, browser: Browser
) -> None:
    running = server(engine())
    async with compare(browser, running.url) as page:
        await page.locator("summary", has_text="Settings").click()
        heat, seed = page.locator("[data-part=temperature]"), page.locator("[data-part=seed]")
        alert = page.locator("[data-part=settings-alert]")
        await heat.fill("9")
        await seed.focus()
        await expect(heat).to_have_attribute("aria-invalid", "true")
        await expect(alert).to_contain_text("from 0 to 2")
        await seed.fill("11")
        await page.locator("[data-part=maxTokens]").focus()
        await expect(alert).to_be_empty()
        await expect(heat).to_have_value("0.2")
        assert await heat.get_attribute("aria-invalid") is None


async def test_separate_generations_are_separate_replies_with_the_same_seed(
    server: Server, browser: Browser
) -> None:
    scripted = engine()
    running = server(scripted)
    async with compare(browser, running.url, "#v=1&prompt=Why&seed=5&separate=1") as page:
        await race(page)
        assert len(running.replies) == 2
        assert "with the same seed" in await page.locator("[data-part=proof]").inner_text()
        await expect(page.locator(".verdict")).to_contain_text("Same")


async def test_the_numbers_can_be_kept_as_csv_that_no_spreadsheet_executes(
    server: Server, browser: Browser
) -> None:
    running = server(engine())
    async with compare(browser, running.url, "#v=1&prompt=%3DHYPERLINK(1)") as page:
        await race(page)
        rows = list(csv.DictReader(io.StringIO((await kept(page, "save-csv")).decode("utf-8-sig"))))
        first = {row["lane"]: float(row["value"]) for row in rows if row["number"] == "firstWord"}
        assert [round(first[lane] / 1000, 2) for lane in ("1", "2")] == pytest.approx(
            await clocks(page), abs=0.011
        )
        assert {row["prompt"] for row in rows} == {"'=HYPERLINK(1)"}
        assert (await kept(page, "save-png")).startswith(b"\x89PNG")


async def test_one_html_file_replays_the_race_from_the_disk(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    running = server(engine())
    async with compare(
        browser, running.url, "#v=1&prompt=%3C%2Fscript%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    ) as page:
        await race(page)
        verdict, texts, stopped = (
            await page.locator(".verdict").inner_text(),
            await lane_texts(page),
            await clocks(page),
        )
        file = tmp_path / "race.html"
        file.write_bytes(await kept(page, "save-html"))
    context = await browser.new_context(offline=True)
    page = await context.new_page()
    complaints = listen(page, "file:")
    await page.goto(file.as_uri())
    await page.wait_for_selector("body[data-state=ready]")
    assert "<img" in await page.locator("[data-part=asked]").inner_text()
    await expect(page.locator(".source")).to_contain_text("Recording")
    # By its button: whoever has the file on a phone has no keys.
    await page.locator("[data-part=play]").click()
    await over(page)
    assert await page.locator(".verdict").inner_text() == verdict
    assert (await lane_texts(page), await clocks(page)) == (texts, stopped)
    assert json.loads(await kept(page, "save-json"))["format"] == "firstword-recording"
    await context.close()
    assert complaints == []


async def test_a_file_that_is_no_recording_is_refused_in_one_sentence(
    server: Server, browser: Browser
) -> None:
    running = server(engine())
    async with compare(browser, running.url) as page:
        for data, said in ((b"nonsense", "it is not JSON"), (b'{"format": "x"}', "format must be")):
            files = [{"name": "x.json", "mimeType": "application/json", "buffer": data}]
            await page.locator("[data-part=open-json]").set_input_files(files)  # type: ignore[arg-type]
            await expect(page.locator("[data-part=ask-note]")).to_contain_text(said)


async def test_keys_run_blank_and_explain_and_can_be_turned_off(server: Server, browser: Browser) -> None:
    running = server(engine(5))
    async with compare(browser, running.url) as page:
        await page.keyboard.press("PageDown")
        await over(page)
        await page.keyboard.press("b")
        await expect(page.locator("[data-part=blank]")).to_be_visible()
        await page.keyboard.press("b")
        await expect(page.locator("[data-part=blank]")).to_be_hidden()
        await page.keyboard.press("PageDown")
        await expect(page.locator("body")).to_have_attribute("data-race", "idle")
        assert await lane_texts(page) == ["", ""]
        await page.keyboard.press("?")
        sheet = page.get_by_role("dialog", name="Keys and clicker")
        await expect(sheet).to_be_visible()
        await sheet.get_by_label("Use these keys").uncheck()
        await page.keyboard.press("Escape")
        await page.keyboard.press("b")
        await expect(page.locator("[data-part=blank]")).to_be_hidden()
        await page.get_by_label("What to ask").fill("b p 1")
        await expect(page.get_by_label("What to ask")).to_have_value("b p 1")


async def test_a_race_is_announced_in_at_most_four_sentences(server: Server, browser: Browser) -> None:
    running = server(engine())
    async with compare(browser, running.url) as page:
        await page.evaluate(
            "(() => { window.said = []; const line = document.querySelector('[data-part=announcer]');"
            " new MutationObserver(() => said.push(line.textContent)).observe(line,"
            " {childList: true, characterData: true, subtree: true}); })()"
        )
        await race(page)
        said = await page.evaluate("said")
        assert 2 <= len(said) <= 4
        assert "times sooner" in said[-1]


async def test_lanes_can_be_added_changed_and_removed(server: Server, browser: Browser) -> None:
    running = server(engine(5))
    async with compare(browser, running.url) as page:
        await page.get_by_text("Lanes", exact=True).click()
        await page.get_by_role("button", name="Four wires").click()
        assert await page.locator(".lane").count() == 4
        await page.locator(".lane").nth(3).locator("summary").click()
        await page.locator(".lane").nth(3).get_by_role("button", name="Remove this lane").click()
        assert await page.locator(".lane").count() == 3
        await page.locator(".lane").nth(2).locator("summary").click()
        await page.locator(".lane").nth(2).get_by_label("Delivery").select_option("sentence")
        await expect(page.locator(".lane h3").nth(2)).to_contain_text("By sentence")
        await race(page)
        assert await lane_texts(page) == [TEXT] * 3


async def test_stop_ends_the_race_and_the_generation(server: Server, browser: Browser) -> None:
    running = server(engine(200))
    async with compare(browser, running.url) as page:
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".lane-text").nth(0)).not_to_be_empty()
        await page.get_by_role("button", name="Stop").click()
        await over(page)
        await expect(page.locator(".verdict")).to_contain_text("the answer was stopped")
        assert running.replies.running() == []


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1024, 768)])
async def test_on_a_projector_the_essential_fits_without_scrolling(
    server: Server, browser: Browser, width: int, height: int
) -> None:
    running = server(engine(5))
    async with compare(browser, running.url, viewport={"width": width, "height": height}) as page:
        await page.get_by_label("Look").select_option("projector")
        await race(page)
        boxes = [
            await locator.bounding_box()
            for locator in (
                *await page.locator("[data-part=clock]").all(),
                page.locator(".strips"),
                page.locator(".verdict"),
            )
        ]
        assert all(box and box["y"] >= 0 and box["y"] + box["height"] <= height for box in boxes)
        sizes = await page.evaluate(
            "[...document.querySelectorAll('.lane [data-part=clock], .lane-text')]"
            ".map(e => parseFloat(getComputedStyle(e).fontSize))"
        )
        assert min(sizes) >= 24 and max(sizes) >= 64
        assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")


async def test_a_shipped_recording_runs_over_the_wires_while_the_model_loads(
    server: Server, browser: Browser
) -> None:
    mortal = MortalEngine(spoken(TEXT, 5))
    running = server(mortal)
    mortal.crash()
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{running.url}/compare")
    await page.wait_for_selector("body[data-state=ready]")
    await expect(page.locator("[data-part=ask-note]")).to_contain_text("still loading")
    await page.get_by_text("Recordings", exact=True).click()
    await page.locator("[data-part=recordings] button").first.click()
    await expect(page.locator(".source")).to_contain_text("Recording")
    assert "recording=" in page.url
    await race(page)
    streamed, whole = await lane_texts(page)
    assert streamed == whole and len(streamed) > 40
    await expect(page.locator(".verdict")).to_contain_text("times sooner")
    await expect(page.locator(".source")).to_contain_text("Recording")
    await context.close()


#: The last one is that of the steps between two looks.
LOOKS = [("projector", 1024), ("dark", 1280), ("light", 1280)]


@pytest.mark.parametrize("looks", [LOOKS, [("light", 390)]], ids=["every theme", "phone"])
async def test_axe_finds_nothing_to_complain_about_in_the_race(
    server: Server, browser: Browser, looks: list[tuple[str, int]]
) -> None:
    running = server(engine(15 * len(looks)))
    async with compare(browser, running.url, viewport={"width": looks[-1][1], "height": 800}) as page:

        async def look(moment: str) -> None:
            for theme, width in looks:
                await page.set_viewport_size({"width": width, "height": 800})
                await nobody_complains(page, moment, [theme])

        await page.add_init_script(path=AXE)
        await page.reload()
        await page.wait_for_selector("body[data-state=ready][data-model=ready]")
        await look("before")
        await page.get_by_text("Settings", exact=True).click()
        await look("settings")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Run").click()
        await page.wait_for_selector(".lane[data-state=waiting]")
        await look("in the race")
        await over(page)
        await look("after")
