"""F29 in a real Chromium: what a model or a person says stays text, whatever it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.browser.test_chat import done, opened, send
from tests.faults.payloads import PAYLOADS
from tests.server import Running

pytestmark = pytest.mark.browser

Server = Callable[..., Running]

#: All that an answer may consist of, and the attributes that may stand there.
ELEMENTS = {
    "A", "BLOCKQUOTE", "BR", "BUTTON", "CODE", "DEL", "DIV", "EM", "H3", "H4", "H5", "H6", "HR", "INPUT",
    "LI", "OL", "P", "PRE", "SPAN", "STRONG", "TABLE", "TBODY", "TD", "TH", "THEAD", "TR", "UL",
}  # fmt: skip

#: Streams one text into an answer, sign by sign, and says what has become of it.
RENDER = """
async ([texts, withMarkup]) => {
  const { Answer } = await import("/static/js/answer/answer.js");
  const { loadMarked } = await import("/static/js/answer/libraries.js");
  const marked = withMarkup ? await loadMarked() : null;
  if (withMarkup && !marked) throw new Error("marked is not installed");
  const parts = () => {
    const [frame, pre, label] = ["div", "pre", "span"].map((tag) => document.createElement(tag));
    frame.append(label, pre);
    return { frame, pre, label };
  };
  return texts.map((text) => {
    const root = document.createElement("div");
    document.body.append(root);
    const answer = new Answer(root, marked, parts, (language) => language);
    for (const sign of text) answer.append(sign);
    answer.finish();
    const all = [...root.querySelectorAll("*")];
    for (const element of all) if (element instanceof HTMLElement && element.tagName !== "A") element.click();
    const found = {
      text: root.textContent,
      tags: [...new Set(all.map((element) => element.tagName))],
      handlers: all.flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith("on")),
      links: all.filter((element) => element.hasAttribute("href")).map((element) => element.protocol),
      sources: all.filter((element) => element.hasAttribute("src")).length,
    };
    root.remove();
    return found;
  });
}
"""


async def watch(page: Page) -> list[str]:
    """Dialogs as they open, and violations of the page's policy."""
    told: list[str] = []

    async def dismiss(dialog: Any) -> None:
        told.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def tell(directive: str) -> None:
        told.append(f"violation of {directive}")

    page.on("dialog", dismiss)
    await page.expose_function("tellViolation", tell)
    await page.evaluate(
        "document.addEventListener('securitypolicyviolation', (e) => tellViolation(e.violatedDirective))"
    )
    return told


async def test_no_payload_becomes_more_than_text_in_the_page(server: Server, browser: Browser) -> None:
    async with opened(browser, server().url) as page:
        told = await watch(page)
        rendered = await page.evaluate(RENDER, [list(PAYLOADS), True])
        for payload, found in zip(PAYLOADS, rendered, strict=True):
            assert set(found["tags"]) <= ELEMENTS, (payload, found)
            assert found["handlers"] == [] and found["sources"] == 0, (payload, found)
            assert set(found["links"]) <= {"http:", "https:", "mailto:"}, (payload, found)
        # Without the Markdown library an answer is the very text.
        plain = await page.evaluate(RENDER, [list(PAYLOADS), False])
        assert [found["text"] for found in plain] == list(PAYLOADS)
        assert await page.evaluate("window.hit") is None
        assert told == []


async def test_all_of_them_in_one_reply_and_one_question_do_nothing(server: Server, browser: Browser) -> None:
    text = "\n\n".join(PAYLOADS) + "\n\nThe end."
    engine = ScriptedEngine(spoken(text, 0.0))
    async with opened(
        browser, server(engine, max_output_tokens=50_000, default_output_tokens=50_000).url
    ) as page:
        told = await watch(page)
        # A text field keeps no bare carriage returns and no NUL that a browser would send otherwise.
        question = "\n".join(p for p in PAYLOADS if p.isprintable())
        await send(page, question)
        await done(page)
        assert await page.locator("[data-part=question]").first.text_content() == question.strip()
        assert (await page.locator(".answer").inner_text()).rstrip().endswith("The end.")
        assert await page.locator(".turns img, .turns script, .turns iframe, .turns object").count() == 0
        assert await page.evaluate("window.hit") is None
        assert told == []
