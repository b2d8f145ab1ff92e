"""F13: a student's phone is locked and taken out again, five times, and once the Back button is used.

A headless Chromium has no screen to lock: its page is frozen by the browser's own means (no script runs), its
line drops everything meanwhile, and the event that a screen brings is sent by hand. Real phones: by hand.
"""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import Page

from drill.case import Finding, Scale
from drill.classroom import Member, classroom
from drill.network import CUT, GOOD, HERE, line
from drill.page import page_beyond
from drill.served import served

_CYCLES = 5
_IN_TIME_S = 3.0
_VOTE = ".choice[value=a]"
_BLANK = "[data-part=message-title]"


async def locks(scale: Scale) -> Finding:
    """While the phone is away the teacher darkens it, or lets it be seen again."""
    away_s = 4.0 if scale.quick else 10.0
    async with (
        line() as way,
        served(host=HERE) as server,
        classroom(server) as room,
        room.teacher() as teacher,
        page_beyond(way, f"{server.url}/j#{room.code}", "[data-status=live]") as phone,
    ):
        await teacher.say("open_round", plan={"prompt": "Count."})
        await phone.locator(_VOTE).click()
        await phone.locator(f"{_VOTE}[aria-pressed=true]").wait_for()
        session = await phone.context.new_cdp_session(phone)
        took_s = []
        for cycle in range(_CYCLES):
            await session.send("Page.setWebLifecycleState", {"state": "frozen"})
            way.quality = CUT
            await teacher.say("hold", blank=cycle % 2 == 0)
            await asyncio.sleep(away_s)
            way.quality = GOOD
            await session.send("Page.setWebLifecycleState", {"state": "active"})
            back_s = time.monotonic()
            await phone.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
            await _right(phone, teacher)
            took_s.append(time.monotonic() - back_s)
        await teacher.say("hold", blank=False)
        await teacher.until(lambda: not teacher.room["blank"])
        await phone.goto(f"{server.url}/learn")
        await phone.go_back()
        back_s = time.monotonic()
        await _right(phone, teacher)
        took_s.append(time.monotonic() - back_s)
        await teacher.until(lambda: teacher.room["count"] == 1)
        kept = await phone.locator(f"{_VOTE}[aria-pressed=true]").count() == 1
    return Finding(
        f"{_CYCLES} times {away_s:g} s frozen and cut off, then Back: right after "
        f"{', '.join(f'{seconds:.1f}' for seconds in took_s)} s; vote kept: {kept}",
        max(took_s) <= _IN_TIME_S and kept,
    )


# Private


async def _right(phone: Page, teacher: Member) -> None:
    """Until the phone shows what the room is now. Raises playwright's TimeoutError."""
    shown = _BLANK if teacher.room["blank"] else _VOTE
    await phone.locator(f"{shown}:visible").first.wait_for()
    await phone.locator("[data-status=live]").wait_for()
