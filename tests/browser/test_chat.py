"""The chat page in a real Chromium, doing what a person does, against a real server."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, Request, expect

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.server import Running

pytestmark = pytest.mark.browser

STORY = (
    "The sky is **blue** because air scatters short waves. "
    "So blue light comes from everywhere, while red goes straight on.\n\nThat is all."
)
#: What of it can be seen once the markup is gone.
SHOWN = STORY.replace("**", "").replace("\n\n", "")
SEEN = "The sky is blue because air scatters short waves."

#: Counts what is painted into answers, and when: installed before the page's own scripts.
WATCH = """
window.paints = [];
document.addEventListener("DOMContentLoaded", () => new MutationObserver((changes) => {
  if (changes.some((change) => (change.target.parentElement ?? change.target).closest?.(".answer")
      || (change.target instanceof Element && change.target.closest(".answer")))) {
    paints.push([performance.now(), [...document.querySelectorAll(".answer")].at(-1).textContent.length]);
  }
}).observe(document.body, {subtree: true, childList: true, characterData: true}));
"""


#: A browser that is refused every WebSocket.
NO_SOCKETS = """
window.WebSocket = class {
  static OPEN = 1; static CONNECTING = 0; readyState = 0;
  constructor() { setTimeout(() => this.onclose?.(), 5); }
  close() {}
};
"""

#: The page's sockets are kept where a test can count and cut them.
KEPT_SOCKETS = """
window.sockets = [];
const Plain = WebSocket;
window.WebSocket = class extends Plain { constructor(url) { super(url); sockets.push(this); } };
"""


#: Counts what a screen reader would say by itself.
HEAR = """
window.heard = 0;
new MutationObserver((all) => {
  for (const { target } of all) {
    const element = target instanceof Element ? target : target.parentElement;
    if (element.closest("[role=status], [role=alert], [aria-live=polite]")) heard += 1;
  }
}).observe(document.body, { subtree: true, childList: true, characterData: true });
"""


@asynccontextmanager
async def opened(browser: Browser, url: str, **options: Any) -> AsyncIterator[Page]:
    """The page in a context of its own; whatever it complains about fails the test."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    complaints: list[str] = []

    def on_request(request: Request) -> None:
        if not request.url.startswith(url):
            complaints.append(f"asked another host for {request.url}")

    def on_console(message: ConsoleMessage) -> None:
        # While the model loads, /readyz says so by 503, and Chromium writes that down.
        if message.type == "error" and "503" not in message.text:
            complaints.append(message.text)

    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", on_console)
    page.on("request", on_request)
    await page.add_init_script(WATCH)
    await page.goto(url)
    await ready(page)
    yield page
    await context.close()
    assert complaints == []


async def ready(page: Page) -> None:
    await page.wait_for_selector("body[data-state=ready]")


async def send(page: Page, text: str = "Why is the sky blue?") -> None:
    await page.get_by_label("Your message").fill(text)
    # A person takes longer to write than the page to fetch the rest of itself, which would count as waiting.
    await page.wait_for_selector("body[data-talk=ready]")
    await page.keyboard.press("Enter")


async def done(page: Page, state: str = "done", number: int = 0) -> None:
    await page.wait_for_selector(f".reply >> nth={number}")
    await expect(page.locator(".reply").nth(number)).to_have_attribute("data-state", state, timeout=20_000)


async def until(page: Page, condition: str) -> None:
    """Wait for a condition in the page; Playwright's own way is an eval, which the page forbids."""
    async with asyncio.timeout(20):
        await page.evaluate(
            "new Promise((go) => {"
            f" const look = () => ({condition}) ? go() : setTimeout(look, 5); look(); }})"
        )


async def told(page: Page, kind: str) -> asyncio.Event:
    """Set once the server has told the page, on its socket, an event of that kind."""
    heard = asyncio.Event()

    def hear(frame: dict[str, Any]) -> None:
        if f'"type":"{kind}"' in frame["response"]["payloadData"]:
            heard.set()

    network = await page.context.new_cdp_session(page)
    network.on("Network.webSocketFrameReceived", hear)
    await network.send("Network.enable")
    return heard


def engine(text: str = STORY, delay_ms: float = 25, **options: Any) -> ScriptedEngine:
    return ScriptedEngine(spoken(text, delay_ms), **options)


def pace(scripted: ScriptedEngine, delay_ms: float) -> None:
    """From here on each token takes so long, those of a reply that is on its way too."""
    script = scripted.script
    assert isinstance(script, list)
    script[:] = [(data, delay_ms) for data, _ in script]


Server = Callable[..., Running]


async def test_words_arrive_at_different_times_when_streamed_and_in_one_piece_when_not(
    server: Server, browser: Browser
) -> None:
    running = server(engine())
    async with opened(browser, running.url) as page:
        await send(page)
        await done(page)
        streamed = await page.evaluate("paints.splice(0)")
        assert len({length for _, length in streamed}) > 8
        assert streamed[-1][0] - streamed[0][0] > 300
        await page.get_by_role("radio", name="All at once").check()
        await send(page)
        await done(page, number=1)
        whole = await page.evaluate("paints")
        assert len({length for _, length in whole}) == 1
        texts = [await reply.text_content() for reply in await page.locator(".answer").all()]
        assert texts[0] == texts[1]
        assert SEEN in (texts[0] or "")
        assert await page.locator(".reply .mode").all_text_contents() == ["Streamed", "All at once"]


async def test_the_clock_runs_while_nothing_can_be_read_and_then_the_numbers_say_how_long(
    server: Server, browser: Browser
) -> None:
    script = [(b"First", 900.0), (b" word", 250.0), (b" here.", 250.0)]
    running = server(ScriptedEngine(script))
    async with opened(browser, running.url) as page:
        await send(page)
        clock = page.locator("[data-part=clock]")
        await expect(clock).to_have_text(re.compile(r"^0\.[3-8] s$"))
        await expect(page.locator(".waiting")).to_contain_text("nothing to read yet")
        await done(page)
        await expect(page.locator(".waiting")).to_be_hidden()
        first = await page.locator("[data-number=firstWord] .value").text_content()
        assert 900 <= to_ms(first) < 1500
        last = await page.locator("[data-number=lastWord] .value").text_content()
        assert to_ms(last) >= to_ms(first) + 100
        await expect(page.locator("[data-number=tokens] .value")).to_have_text("3")
        await expect(page.locator("[data-number=gaps] .value")).to_contain_text("median")


def to_ms(text: str | None) -> float:
    number, unit = (text or "").split()
    return float(number) * (1000 if unit == "s" else 1)


async def test_frames_that_are_filled_up_are_read_like_any_other(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        await send(page)
        await done(page)
        usual = await page.locator(".answer").first.text_content()
    async with opened(browser, server(engine(delay_ms=1), frame_bytes=256).url) as page:
        await send(page)
        await done(page)
        assert await page.locator(".answer").first.text_content() == usual


async def test_a_number_says_its_formula_to_the_keyboard_too(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        await send(page)
        await done(page)
        number = page.get_by_role("button", name="First word")
        await number.focus()
        tip = page.locator(f"#{await number.get_attribute('aria-describedby')}")
        await expect(tip).to_be_visible()
        await expect(tip).to_contain_text("click")
        await page.keyboard.press("Escape")
        await expect(tip).to_be_hidden()


async def test_t_switches_the_delivery_outside_the_composer_and_the_choice_is_remembered(
    server: Server, browser: Browser
) -> None:
    async with opened(browser, server(engine()).url) as page:
        whole, streamed = page.get_by_label("All at once"), page.get_by_label("Streamed")
        await page.get_by_label("Your message").fill("")
        await page.keyboard.type("t")
        await expect(page.get_by_label("Your message")).to_have_value("t")
        await expect(streamed).to_be_checked()
        await streamed.focus()
        await page.keyboard.press("t")
        await expect(whole).to_be_checked()
        await page.reload()
        await ready(page)
        await expect(whole).to_be_checked()


async def test_stop_silences_the_page_and_frees_the_server(server: Server, browser: Browser) -> None:
    running = server(engine(STORY * 20))
    async with opened(browser, running.url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer').textContent.length > 30")
        await page.keyboard.press("Escape")
        text = await page.locator(".answer").text_content()
        await done(page, "stopped")
        await expect(page.locator("[data-number=tokens] .value")).not_to_have_text("–")
        assert await page.locator(".answer").text_content() == text
        made = int(await page.locator("[data-number=tokens] .value").text_content() or 0)
        assert made < len(STORY.split()) * 2
        await expect(page.get_by_role("button", name="Send")).to_be_visible()


async def test_a_reload_in_mid_reply_goes_on_without_a_gap_or_a_double(
    server: Server, browser: Browser
) -> None:
    running = server(engine(delay_ms=80))
    async with opened(browser, running.url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer').textContent.length > 20")
        await page.reload()
        await ready(page)
        await done(page)
        assert await page.locator(".answer").text_content() == SHOWN
        assert sum(running.engine.made.values()) == len(spoken(STORY, 0))
        await expect(page.locator(".reply .note")).to_contain_text("loaded anew")
        await page.reload()
        await ready(page)
        assert await page.locator(".answer").text_content() == SHOWN


class MortalEngine(ScriptedEngine):
    """Can be told from the test's thread to die and to come back."""

    async def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        await super().start()

    def crash(self) -> None:
        self.loop.call_soon_threadsafe(self.lose)

    def come_back(self) -> None:
        self.loop.call_soon_threadsafe(self.recover)


async def test_an_engine_that_dies_leaves_the_text_says_why_and_can_be_asked_again(
    server: Server, browser: Browser
) -> None:
    mortal = MortalEngine(spoken(STORY, 60))
    async with opened(browser, server(mortal).url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer').textContent.length > 20")
        mortal.crash()
        await done(page, "failed")
        assert len(await page.locator(".answer").text_content() or "") > 20
        await expect(page.get_by_role("alert").filter(has_text="Interrupted")).to_be_visible()
        await page.get_by_role("button", name="Try again").click()
        mortal.come_back()
        await done(page, number=1)
        assert await page.locator(".answer").nth(1).text_content() == SHOWN


async def test_a_model_that_still_loads_is_said_calmly_and_the_message_waits_for_it(
    server: Server, browser: Browser
) -> None:
    mortal = MortalEngine(spoken(STORY, 5))
    running = server(mortal)
    mortal.crash()
    async with opened(browser, running.url) as page:
        await expect(page.locator(".banner")).to_contain_text("your message is sent when the model is ready")
        await send(page)
        await expect(page.locator("[data-part=phase]")).to_have_text("waiting for the model to load")
        mortal.come_back()
        await done(page)
        await expect(page.locator(".banner")).to_be_hidden()
        assert await page.locator(".answer").text_content() == SHOWN


async def test_a_lost_connection_is_found_again_in_mid_reply(server: Server, browser: Browser) -> None:
    running = server(engine(delay_ms=60))
    async with opened(browser, running.url) as page:
        await page.add_init_script(KEPT_SOCKETS)
        await page.reload()
        await ready(page)
        await send(page)
        await until(page, "document.querySelector('.answer').textContent.length > 20")
        await page.evaluate("sockets.at(-1).close()")
        await done(page)
        assert await page.evaluate("sockets.length") == 2
        assert await page.locator(".answer").text_content() == SHOWN
        assert sum(running.engine.made.values()) == len(spoken(STORY, 0))


async def test_where_websockets_are_refused_answers_come_over_http(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine()).url) as page:
        await page.add_init_script(NO_SOCKETS)
        await page.reload()
        await ready(page)
        await expect(page.locator(".banner")).to_contain_text("plain HTTP")
        await send(page)
        await done(page)
        assert len({length for _, length in await page.evaluate("paints")}) > 8
        assert await page.locator(".answer").text_content() == SHOWN
        await page.get_by_role("radio", name="All at once").check()
        await send(page)
        await done(page, number=1)
        assert await page.locator(".answer").nth(1).text_content() == SHOWN


async def test_enter_that_ends_a_composition_sends_nothing(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        box = page.get_by_label("Your message")
        await box.fill("かな")
        for event in ({"key": "Enter", "isComposing": True}, {"key": "Enter", "keyCode": 229}):
            await box.dispatch_event("keydown", {**event, "bubbles": True})
        assert await page.locator(".turn").count() == 0
        await page.keyboard.press("Shift+Enter")
        await expect(box).to_have_value("かな\n")
        await page.keyboard.press("Enter")
        await done(page)
        assert await page.locator(".turn").count() == 1


async def test_an_answer_cannot_run_code_or_call_anybody(server: Server, browser: Browser) -> None:
    attack = (
        "<script>window.hit=1</script> <img src=http://evil.test/1 onerror=window.hit=1> "
        "![x](http://evil.test/?q=1) [y](javascript:window.hit=1) <svg onload=window.hit=1>\n\n"
        "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>\n\n[z](data:text/html,x) end"
    )
    async with opened(browser, server(engine(attack, 2)).url) as page:
        await send(page)
        await done(page)
        assert await page.evaluate("window.hit") is None
        answer = page.locator(".answer")
        assert await answer.locator("img, script, iframe, svg").count() == 0
        links = await answer.locator("a").evaluate_all("all => all.map((a) => a.protocol)")
        assert set(links) <= {"http:", "https:", "mailto:"}
        await expect(answer).to_contain_text("end")


async def test_a_selection_survives_the_rest_of_the_stream(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(STORY + "\n\n" + STORY, 20)).url) as page:
        await send(page)
        await until(page, "document.querySelector('.answer strong')")
        await page.evaluate("getSelection().selectAllChildren(document.querySelector('.answer strong'))")
        await done(page)
        assert await page.evaluate("getSelection().toString()") == "blue"


async def test_a_reader_who_scrolled_up_is_left_alone_and_can_come_back(
    server: Server, browser: Browser
) -> None:
    text = "\n\n".join(f"Paragraph {number} of a long answer." for number in range(60))
    async with opened(browser, server(engine(text, 8)).url, viewport={"width": 800, "height": 500}) as page:
        await send(page)
        scroller = page.locator(".scroller")
        await until(page, "document.querySelector('.scroller').scrollTop > 300")
        await scroller.hover()
        await page.mouse.wheel(0, -200)
        below = page.get_by_role("button", name="New lines below")
        await expect(below).to_be_visible()
        await page.evaluate("new Promise((go) => requestAnimationFrame(() => go(true)))")
        place = await scroller.evaluate("s => s.scrollTop")
        await done(page)
        assert await scroller.evaluate("s => s.scrollTop") == place
        await below.click()
        await expect(below).to_be_hidden()
        distance = await scroller.evaluate("s => s.scrollHeight - s.clientHeight - s.scrollTop")
        assert abs(distance) <= 3


async def test_everything_works_without_a_secure_context(server: Server, browser: Browser) -> None:
    running = server(engine(delay_ms=2), allowed_hosts="class.test")
    url = running.url.replace("127.0.0.1", "class.test")
    async with opened(browser, url) as page:
        assert await page.evaluate("isSecureContext") is False
        await send(page)
        await done(page)
        copy = page.locator("[data-part=copy]")
        await copy.click()
        await expect(copy).to_have_text(re.compile("Copied"))


async def test_a_screen_reader_hears_little_and_never_the_stream(server: Server, browser: Browser) -> None:
    async with opened(browser, server(engine(delay_ms=10)).url) as page:
        await page.evaluate(HEAR)
        await send(page)
        await done(page)
        await expect(page.locator("[data-part=announcer]")).to_contain_text("complete")
        assert 1 <= await page.evaluate("heard") <= 4


async def test_texts_stand_out_in_every_theme(server: Server, browser: Browser) -> None:
    """WCAG AA everywhere, 7 : 1 and 24 px on the projector."""
    async with opened(browser, server(engine(delay_ms=1)).url) as page:
        await send(page)
        await done(page)
        for theme, least_contrast, least_px in (("light", 4.5, 16), ("dark", 4.5, 16), ("projector", 7, 24)):
            await page.get_by_label("Look").select_option(theme)
            least = await page.evaluate(CONTRAST)
            assert least[0] >= least_contrast, (theme, least)
            size = await page.locator(".answer").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
            assert size >= least_px, theme


#: The lowest contrast of any visible text against what is painted behind it: [ratio, the text].
CONTRAST = """() => {
  const rgb = (css) => css.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } };
  let least = [21, ""];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || !e.checkVisibility({visibilityProperty: true})) continue;
    if (e.closest("script, noscript, option")) continue;
    const style = getComputedStyle(e);
    const ink = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(rgb(ink)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0]) least = [ratio, node.data.trim()];
  }
  return least;
}"""


async def test_on_a_phone_nothing_is_wider_than_the_screen(server: Server, browser: Browser) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    table = (
        "| a | b | c | d | e |\n|---|---|---|---|---|\n"
        + "| "
        + "wide cell words | " * 5
        + "\n\n`"
        + "x" * 90
        + "`"
    )
    async with opened(browser, server(engine(table, 1)).url, **phone) as page:
        await page.get_by_label("Your message").fill("A long question " * 8)
        await page.get_by_role("button", name="Send").click()
        await done(page)
        assert await page.evaluate(
            "document.scrollingElement.scrollWidth <= innerWidth && innerWidth === 390"
        )
        box = await page.locator(".composer").bounding_box()
        assert box is not None and box["y"] + box["height"] <= 844


async def test_without_the_npm_libraries_answers_are_plain_text(
    server: Server, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.routes.installed_libraries", lambda folder: ())
    async with opened(browser, server(engine(delay_ms=2)).url) as page:
        await send(page)
        await done(page)
        assert await page.locator(".answer").text_content() == STORY


async def test_a_long_reply_costs_no_more_at_its_end_than_at_its_beginning(
    server: Server, browser: Browser
) -> None:
    paragraph = "Some words with **bold**, `code` and a [link](https://example.com).\n\n"
    text = paragraph * 700
    script = [(text[at : at + 60].encode(), 0.5) for at in range(0, len(text), 60)]
    running = server(
        ScriptedEngine(script, context_tokens=20_000), max_output_tokens=2000, default_output_tokens=2000
    )
    async with opened(browser, running.url) as page:
        await page.evaluate(
            "window.long = [];"
            "new PerformanceObserver((list) => long.push(...list.getEntries().map((e) => e.duration)))"
            ".observe({entryTypes: ['longtask']})"
        )
        await send(page)
        await done(page)
        assert await page.locator(".answer p").count() == 700
        longest = max(await page.evaluate("long"), default=0)
        # Two noisy cores are shared with the server: the bound is for catching quadratic work.
        assert longest < 400, f"a task of {longest} ms"
