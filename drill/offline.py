"""E8: the whole of it with the plug pulled, in a network namespace whose only way out leads nowhere.

What wants to leave is caught there and counted. The browser resolves no names: its own habits (updates,
trials) would be counted too, and what the pages ask for it tells us itself.
"""

from __future__ import annotations

import ipaddress

from playwright.async_api import Page, async_playwright

from drill.case import Finding, Scale
from drill.classroom import classroom
from drill.network import way_out
from drill.page import answer, ask, chromium
from drill.served import Served, served

_ARGUMENTS = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
_PAGES = ("/compare", "/learn", "/lab", "/teach", "/join")


async def offline(scale: Scale) -> Finding:
    """A visitor sees every page, chats, and joins a room."""
    async with (
        way_out() as packets,
        served() as server,
        classroom(server) as room,
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(executable_path=chromium(), args=_ARGUMENTS)
        page = await browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        said = await _chat(page, server)
        shown = [path for path in (*_PAGES, f"/join#{room.code}") if await _shows(page, server.url + path)]
        await browser.close()
    foreign = [url for url in asked if not url.startswith((server.url, "data:", "blob:"))]
    told = sorted({str(ipaddress.ip_address(packet[16:20])) for packet in packets if packet[0] >> 4 == 4})
    return Finding(
        f"chat answered: {said}; pages shown: {len(shown)} of {len(_PAGES) + 1}; {len(asked)} requests, "
        f"{len(foreign)} to others; packets that wanted to leave: {len(packets)} {told}",
        said and len(shown) == len(_PAGES) + 1 and not foreign and not packets,
    )


# Private


async def _chat(page: Page, server: Served) -> bool:
    await page.goto(server.url)
    await page.wait_for_selector("body[data-state=ready]")
    await ask(page)
    await page.locator(".reply[data-state=done]").wait_for()
    return "word1" in await answer(page)


async def _shows(page: Page, url: str) -> bool:
    """Whether a page is there and has its heading."""
    response = await page.goto(url)
    await page.locator("h1").first.wait_for()
    # A visit to the same page with another fragment is no request.
    return response is None or response.ok
