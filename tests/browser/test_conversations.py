"""Conversations on the chat page: versions, branches, the list, tabs, files, settings and links."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.test_chat import SHOWN, STORY, Server, done, engine, opened, pace, ready, send, until
from tests.browser.windows import another_window

pytestmark = pytest.mark.browser

WIDE = {"viewport": {"width": 1280, "height": 800}}


class Listening(ScriptedEngine):
    """Keeps the prompts that it was asked."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.prompts: list[Any] = []

    def submit(self, prompt: Any, *args: Any, **options: Any) -> Any:
        self.prompts.append(prompt)
        return super().submit(prompt, *args, **options)


def listening(text: str = "One two three.", delay_ms: float = 2, **options: Any) -> Listening:
    return Listening(spoken(text, delay_ms), **options)


def shown(page: Page) -> Any:
    return page.locator(".reply:visible")


async def finished(page: Page, state: str = "done") -> None:
    await expect(shown(page).last).to_have_attribute("data-state", state, timeout=20_000)


async def open_list(page: Page) -> None:
    await page.get_by_role("button", name="Conversations", exact=True).click()
    await expect(page.locator("#drawer")).to_be_visible()


async def stored(page: Page) -> list[Any]:
    """All conversations in the browser's database."""
    text = await page.evaluate(
        "new Promise((go) => { const r = indexedDB.open('firstword'); r.onsuccess = () => {"
        " const all = r.result.transaction('conversations').objectStore('conversations').getAll();"
        " all.onsuccess = () => { r.result.close(); go(JSON.stringify(all.result)); }; }; })"
    )
    conversations: list[Any] = json.loads(text)
    return conversations


async def test_asking_again_adds_a_version_and_the_chosen_one_is_gone_on_with(
    server: Server, browser: Browser
) -> None:
    heard = listening()
    async with opened(browser, server(heard).url) as page:
        await send(page)
        await finished(page)
        await page.get_by_role("radio", name="All at once").check()
        await page.get_by_role("button", name="Ask again").click()
        await finished(page)
        await expect(shown(page)).to_have_count(1)
        await expect(page.get_by_text("Version 2 of 2")).to_be_visible()
        # Streamed beside all at once is compared without being asked for.
        rows = page.locator(".version:visible")
        await expect(rows).to_have_count(2)
        await expect(rows.nth(0)).to_contain_text(re.compile(r"Streamed\s+First word [\d.]+ m?s, last word"))
        await expect(rows.nth(1)).to_contain_text(
            re.compile(r"All at once\s+First word [\d.]+ m?s, last word")
        )
        earlier = page.get_by_role("button", name="The one before").locator("visible=true")
        await earlier.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("Version 1 of 2")).to_be_visible()
        await expect(earlier).to_be_focused()
        await expect(shown(page)).to_have_attribute("data-mode", "streamed")
        await page.keyboard.press("ArrowRight")
        await expect(page.get_by_text("Version 2 of 2")).to_be_visible()
        await page.keyboard.press("ArrowLeft")
        await page.get_by_label("Show all texts").check()
        await expect(shown(page)).to_have_count(2)
        await page.get_by_label("Show all texts").uncheck()
        await send(page, "And then?")
        await finished(page)
        assert [m.content for m in heard.prompts[-1].messages][1:] == ["One two three.", "And then?"]
        await page.reload()
        await ready(page)
        await expect(page.get_by_text("Version 1 of 2")).to_be_visible()
        await page.get_by_role("button", name="The next one").locator("visible=true").click()
        await expect(page.locator(".turn")).to_have_count(1)  # The sequel belongs to version 1.


async def test_an_edited_question_is_a_branch_and_the_old_one_stays_reachable(
    server: Server, browser: Browser
) -> None:
    heard = listening()
    async with opened(browser, server(heard).url) as page:
        for question in ("First?", "Second?"):
            await send(page, question)
            await finished(page)
        await page.locator(".question").first.hover()
        await page.get_by_role("button", name="Change this question").first.click()
        box = page.get_by_role("textbox", name="Change this question")
        await expect(box).to_have_value("First?")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="Change this question").first).to_be_focused()
        await page.keyboard.press("Enter")
        await box.fill("Changed?")
        await page.keyboard.press("Enter")
        await expect(page.locator(".turn")).to_have_count(1)
        await finished(page)
        assert [m.content for m in heard.prompts[-1].messages] == ["Changed?"]
        await expect(page.get_by_text("Question 2 of 2")).to_be_visible()
        await page.get_by_role("button", name="The one before").locator("visible=true").click()
        await expect(page.locator(".turn")).to_have_count(2)
        await expect(page.locator("[data-part=question]").last).to_have_text("Second?")
        # The up key in an empty field edits the last question.
        await page.get_by_label("Your message").press("ArrowUp")
        await expect(page.locator("[data-part=edit-text]:visible")).to_have_value("Second?")


async def test_a_cut_off_reply_is_continued_byte_by_byte(server: Server, browser: Browser) -> None:
    heard = listening("One two three four five six.")
    async with opened(browser, server(heard, default_output_tokens=3).url) as page:
        await send(page)
        await finished(page)
        await expect(page.locator(".note:visible")).to_contain_text("cut off")
        first = await shown(page).locator(".answer").text_content() or ""
        await page.get_by_role("button", name="Continue").click()
        await expect(page.get_by_text("Version 2 of 2")).to_be_visible()
        await finished(page)
        prompt = heard.prompts[-1]
        assert prompt.continue_last is True
        assert [m.role for m in prompt.messages] == ["user", "assistant"]
        kept = (await stored(page))[0]["turns"][0]["replies"]
        begun = prompt.messages[-1].content
        assert begun == kept[0]["text"]
        assert kept[1]["text"] == begun + kept[0]["text"]  # The script says the same words each time.
        assert kept[1]["continues"] == kept[0]["id"]
        text = await shown(page).locator(".answer").text_content() or ""
        assert text.startswith(first.rstrip())
        assert len(text) > len(first)
        await page.reload()
        await ready(page)
        assert await shown(page).locator(".answer").text_content() == text


async def test_a_stopped_reply_can_be_continued_and_a_turn_deleted_with_undo(
    server: Server, browser: Browser
) -> None:
    heard = listening(STORY, 40)
    async with opened(browser, server(heard).url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer').textContent.length > 20")
        await page.keyboard.press("Escape")
        await finished(page, "stopped")
        stopped = (await shown(page).locator(".answer").text_content() or "").rstrip()
        await page.get_by_role("button", name="Continue").click()
        await until(
            page,
            f"document.querySelector('.reply:not([hidden]) .answer').textContent.length > {len(stopped) + 5}",
        )
        assert (await shown(page).locator(".answer").text_content() or "").startswith(stopped)
        await page.get_by_role("button", name="Stop").click()
        await finished(page, "stopped")
        await page.locator(".question").hover()
        await page.get_by_role("button", name="Delete this question").click()
        await expect(page.locator(".turn")).to_have_count(0)
        await expect(page.locator(".welcome")).to_be_visible()
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator(".turn")).to_have_count(1)
        await expect(page.get_by_text("Version 2 of 2")).to_be_visible()


async def test_the_list_opens_renames_searches_and_deletes_with_undo(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine("The harbour sleeps.", 1)).url, **WIDE) as page:
        for question in ("Tell me of ships", "Tell me of <b>trains</b>"):
            await send(page, question)
            await finished(page)
            await page.get_by_role("button", name="New chat").click()
        await page.keyboard.press("Control+k")
        entries = page.locator(".entry-open")
        await expect(entries).to_have_count(2)
        await expect(page.get_by_label("Search all chats")).to_be_focused()
        await expect(entries.nth(0)).to_contain_text("<b>trains</b>")
        await expect(entries.nth(0)).to_contain_text("now")
        await page.keyboard.type("SHIPS harbour")
        await expect(entries).to_have_count(1)
        await expect(page.locator(".entry mark")).to_have_text("ships")
        await expect(page.locator("[data-part=drawer-note]")).to_have_text("1 chat found")
        await page.keyboard.press("ArrowDown")
        await expect(entries.first).to_be_focused()
        await page.keyboard.press("F2")
        await page.locator(".entry-name:visible").fill("Boats")
        await page.keyboard.press("Enter")
        await expect(entries.first).to_contain_text("Boats")
        await page.keyboard.press("Enter")
        await expect(page.locator("[data-part=question]")).to_have_text("Tell me of ships")
        await page.get_by_label("Search all chats").fill("")
        await expect(entries).to_have_count(2)
        await page.get_by_role("button", name="Delete Boats").focus()
        await page.keyboard.press("Enter")
        await expect(entries).to_have_count(1)
        await expect(page.locator(".turn")).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await expect(entries).to_have_count(2)
        await expect(page.locator("[data-part=question]")).to_have_text("Tell me of ships")
        # It stays open over a reload, and Escape closes it without stopping anything.
        await page.reload()
        await ready(page)
        await expect(entries).to_have_count(2)
        await entries.first.focus()
        await page.keyboard.press("Escape")
        await expect(page.locator("#drawer")).to_be_hidden()
        await expect(page.get_by_role("button", name="Conversations", exact=True)).to_be_focused()


async def test_two_hundred_stored_chats_are_listed_at_once_and_the_first_version_is_migrated(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url, **WIDE) as page:
        await page.goto(page.url.rstrip("/") + "/healthz")
        await page.evaluate(OLD_DATABASE)
        await page.goto(page.url.replace("/healthz", "/"))
        await ready(page)
        await open_list(page)
        entries = page.locator(".entry-open")
        await expect(entries).to_have_count(100)
        await expect(entries.first).to_contain_text("Old question 199")
        await page.get_by_role("button", name="Show more").press("Enter")
        await expect(entries).to_have_count(200)
        await expect(entries.nth(100)).to_be_focused()
        await entries.first.click()
        await expect(page.locator(".turn")).to_have_count(2)
        await expect(shown(page).locator(".answer").first).to_have_text("newer answer 199")
        await expect(page.get_by_text("Version 2 of 2").first).to_be_visible()
        # Listing again is quick, for only small summaries are read.
        took_ms = await page.evaluate(
            "(async () => { const { ConversationStore } = await import('/static/js/chat/store.js');"
            " const store = new ConversationStore(); await store.list(); const from = performance.now();"
            " await store.list(); return performance.now() - from; })()"
        )
        assert took_ms < 200


#: What version 1 of this page stored: lists of turns, no branches, titles or settings.
OLD_DATABASE = """new Promise((go, fail) => {
  const request = indexedDB.open("firstword", 1);
  request.onerror = () => fail(request.error);
  request.onupgradeneeded = () => request.result.createObjectStore("conversations", {keyPath: "id"})
    .createIndex("updated", "updated_epoch_ms");
  const reply = (id, text) => ({id, text, mode: "streamed", state: "done", seq: 3, reply: "x", position: 0,
    asked_epoch_ms: 1, arrivals: [{at_ms: 50, words: 2, tokens: 2}], firstPaint_ms: 60, lastPaint_ms: 90,
    ended_ms: 95, tokens: 2, timings: null, finish: "stop", error: null,
    flags: {hidden: false, resumed: false, reconnected: false}});
  request.onsuccess = () => {
    const change = request.result.transaction("conversations", "readwrite");
    for (let i = 0; i < 200; i += 1) {
      const hex = (n) => (n + i * 16).toString(16).padStart(32, "0");
      change.objectStore("conversations").put({id: hex(1), updated_epoch_ms: 1e12 + i, turns: [
        {id: hex(2), question: `Old question ${i}`,
          replies: [reply(hex(3), "old"), reply(hex(4), `newer answer ${i}`)]},
        {id: hex(5), question: "More", replies: [reply(hex(6), "and more")]}]});
    }
    change.oncomplete = () => { request.result.close(); go(); };
  };
})"""


async def test_two_tabs_of_one_chat_stay_in_step_and_lose_nothing(server: Server, browser: Browser) -> None:
    scripted = engine(delay_ms=5)
    async with opened(browser, server(scripted).url) as first:
        await send(first, "From the first tab")
        await finished(first)
        second = await another_window(first)
        await second.goto(first.url)
        await ready(second)
        await open_list(second)
        await second.locator(".entry-open").click()
        await expect(second.locator(".turn")).to_have_count(1)
        # What one tab asks, the other reads along while it is being made.
        pace(scripted, 150)
        await send(first, "Again from the first")
        await expect(second.locator(".turn")).to_have_count(2)
        await expect(shown(second).last).to_have_attribute("data-state", "reading", timeout=20_000)
        pace(scripted, 5)
        await finished(first)
        await finished(second)
        assert await shown(second).last.locator(".answer").text_content() == SHOWN
        pace(scripted, 50)
        # Both ask at once, before either has heard of the other.
        await first.evaluate("document.querySelector('[data-part=prompt]').value = 'left'")
        await second.evaluate("document.querySelector('[data-part=prompt]').value = 'right'")
        await first.locator("[data-part=send]").click()
        await second.locator("[data-part=send]").click()
        await finished(first)
        await finished(second)
        await until(first, "document.querySelector('body').dataset.live === 'false'")
        questions = {turn["question"] for turn in (await stored(first))[0]["turns"]}
        assert {"left", "right"} <= questions


async def test_a_chat_that_another_tab_deleted_stays_deleted_although_a_reply_grows_in_it(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine(delay_ms=80)).url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer')?.textContent.length > 10")
        await wait_for_record(page)
        # As from a tab whose news does not come in time.
        await page.evaluate(
            "(async () => { const { ConversationStore } = await import('/static/js/chat/store.js');"
            " const store = new ConversationStore(); const [{ id }] = await store.list();"
            " await store.remove(id); })()"
        )
        await expect(page.locator(".notice")).to_contain_text("deleted in another tab", timeout=10_000)
        await expect(page.locator(".welcome")).to_be_visible()
        assert await stored(page) == []
        await send(page, "What else?")
        await finished(page)
        assert [turn["question"] for turn in (await stored(page))[0]["turns"]] == ["What else?"]


async def wait_for_record(page: Page) -> None:
    async with asyncio.timeout(20):
        while not await stored(page):
            pass


async def test_chats_travel_as_files_and_a_bad_file_changes_nothing(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url, **WIDE) as page:
        await send(page)
        await finished(page)
        await open_list(page)
        await page.get_by_text("Save and load").click()
        files = {}
        for name in ("This chat as JSON", "This chat as Markdown", "All chats as JSON"):
            async with page.expect_download() as download:
                await page.get_by_role("button", name=name).click()
            file = await download.value
            await file.save_as(tmp_path / file.suggested_filename)
            files[name] = (tmp_path / file.suggested_filename).read_text()
        assert files["This chat as Markdown"].startswith("# Why is the sky blue?\n\n> Why is the sky blue?")
        assert STORY in files["This chat as Markdown"]
        assert (
            json.loads(files["This chat as JSON"])["conversations"][0]["turns"][0]["replies"][0]["text"]
            == STORY
        )
        good, bad = tmp_path / "good.json", tmp_path / "bad.json"
        good.write_text(files["All chats as JSON"])
        spoilt = json.loads(files["All chats as JSON"])
        spoilt["conversations"][0]["turns"][0]["question"] = {"__proto__": 1}
        bad.write_text(json.dumps(spoilt))
        await page.locator("[data-part=import]").set_input_files(bad)
        await expect(page.locator(".notice")).to_contain_text(
            "conversations[0].turns[0].question has to be a text"
        )
        await expect(page.locator(".entry-open")).to_have_count(1)
        await page.locator("[data-part=import]").set_input_files(good)
        await expect(page.locator(".notice")).to_contain_text("1 chat was loaded.")
        await expect(page.locator(".entry-open")).to_have_count(2)
        assert len({conversation["id"] for conversation in await stored(page)}) == 2


async def test_settings_are_checked_in_place_shown_at_the_composer_and_sent(
    server: Server, browser: Browser
) -> None:
    heard = listening()
    async with opened(browser, server(heard).url) as page:
        await page.get_by_role("button", name="Settings", exact=True).click()
        seed, heat = page.get_by_label("Seed"), page.get_by_label("Temperature")
        await heat.fill("5")
        await expect(heat).to_have_attribute("aria-invalid", "true")
        await expect(page.locator("#hint-temperature")).to_have_text("Not taken: it has to be 0 to 2.")
        await page.get_by_role("button", name="Done").click()
        await expect(heat).to_be_focused()
        await heat.fill("0")
        await seed.fill("7")
        await page.get_by_label("System prompt").fill("Be brief.")
        await page.get_by_role("button", name="Done").click()
        await expect(page.get_by_role("button", name="temperature 0, seed 7, system prompt")).to_be_visible()
        await send(page)
        await finished(page)
        prompt = heard.prompts[-1]
        assert (prompt.sampling.seed, prompt.sampling.temperature) == (7, 0)
        assert [m.role for m in prompt.messages] == ["system", "user"]
        # They belong to this chat; a new one begins without, unless they were kept for new ones.
        await page.get_by_role("button", name="New chat").click()
        await expect(page.locator("[data-part=chosen]")).to_be_hidden()
        await page.get_by_role("button", name="Settings", exact=True).click()
        await page.get_by_label("Slow motion").fill("500")
        await page.get_by_role("button", name="Use for new chats").click()
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="New chat").click()
        await expect(page.get_by_role("button", name="slow motion 500/s")).to_be_visible()
        await page.get_by_role("button", name="slow motion 500/s").click()
        await page.get_by_role("button", name="Reset").click()
        await page.keyboard.press("Escape")
        await expect(page.locator("[data-part=chosen]")).to_be_hidden()


async def test_a_link_fills_in_an_experiment_on_plain_http_and_sends_nothing(
    server: Server, browser: Browser
) -> None:
    heard = listening()
    running = server(heard, allowed_hosts="class.test")
    url = running.url.replace("127.0.0.1", "class.test")
    async with opened(browser, url) as page:
        await page.get_by_role("button", name="Settings", exact=True).click()
        await page.get_by_label("Seed").fill("7")
        await page.keyboard.press("Escape")
        await page.get_by_role("radio", name="All at once").check()
        await send(page, "आकाश नीला क्यों?")
        await finished(page)
        await page.locator(".question").hover()
        await page.get_by_role("button", name="Copy a link to this experiment").click()
        await expect(page.locator(".notice")).to_contain_text("The link is copied")
        box = page.get_by_label("Your message")
        await box.focus()
        await page.keyboard.press("Control+v")
        link = await box.input_value()
        assert link.startswith(f"{url}/#try=")
        await page.get_by_role("radio", name="Streamed").check()
        await page.goto("about:blank")
        await page.goto(link)
        await ready(page)
        await expect(box).to_have_value("आकाश नीला क्यों?")
        await expect(page.get_by_role("radio", name="All at once")).to_be_checked()
        await expect(page.get_by_role("button", name="seed 7")).to_be_visible()
        await expect(page.locator(".notice")).to_contain_text("Nothing is sent before you press Send")
        assert len(heard.prompts) == 1
        await page.keyboard.press("Enter")
        await finished(page)
        assert heard.prompts[-1].sampling.seed == 7
        assert "#" not in page.url
        await page.evaluate("location.hash = '#try=eyJ2Ij'")
        await expect(page.locator(".notice")).to_contain_text("cut off on its way")


async def test_a_full_disk_is_said_and_the_chat_goes_on(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        await page.evaluate(
            "(() => { IDBObjectStore.prototype.put = () => {"
            " throw new DOMException('full', 'QuotaExceededError'); }; })()"
        )
        await send(page)
        await finished(page)
        await expect(page.locator(".banner")).to_contain_text("QuotaExceededError")
        await send(page, "More?")
        await finished(page)
        assert await shown(page).last.locator(".answer").text_content() == SHOWN


async def test_a_reply_goes_on_in_its_chat_while_another_is_open(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=60)).url, **WIDE) as page:
        await send(page, "The long one")
        await until(page, "document.querySelector('.answer').textContent.length > 10")
        await page.get_by_role("button", name="New chat").click()
        await expect(page.get_by_role("button", name="Send")).to_be_visible()
        await send(page, "Meanwhile")
        await finished(page)
        await open_list(page)
        await page.locator(".entry-open", has_text="The long one").click()
        await done(page)
        assert await shown(page).locator(".answer").text_content() == SHOWN
        assert await page.locator(".note:visible").count() == 0


async def test_on_a_phone_the_list_lies_over_the_chat_and_everything_can_be_touched(
    server: Server, browser: Browser
) -> None:
    phone: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    async with opened(browser, server(engine(delay_ms=1)).url, **phone) as page:
        await page.get_by_label("Your message").fill("A question for the small screen")
        await page.get_by_role("button", name="Send").tap()
        await finished(page)
        await page.get_by_role("button", name="Conversations", exact=True).tap()
        await expect(page.locator("#drawer:modal")).to_be_visible()
        small = await page.evaluate(
            "[...document.querySelectorAll('button, a, select, summary')].filter((e) => e.checkVisibility())"
            ".map((e) => [e.textContent.trim() || e.ariaLabel, e.getBoundingClientRect()])"
            ".filter(([, box]) => box.width > 0 && (box.width < 24 || box.height < 24)).map(([name]) => name)"
        )
        assert small == []
        await page.get_by_role("button", name="Delete A question").tap()
        await expect(page.locator(".entry-open")).to_have_count(0)
        await page.get_by_role("button", name="Undo").tap()
        await page.locator(".entry-open").tap()
        await expect(page.locator("#drawer")).to_be_hidden()
        await page.get_by_role("button", name="Settings", exact=True).tap()
        assert await page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        await page.get_by_role("button", name="Done").tap()
        await page.get_by_role("button", name="Change this question").tap()
        await expect(page.locator("[data-part=edit-text]:visible")).to_be_focused()
        assert await page.evaluate(
            "document.scrollingElement.scrollWidth <= innerWidth && innerWidth === 390"
        )
