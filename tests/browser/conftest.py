"""A real Chromium for the browser tests: one for all tests of a process, a context of its own for each.

To start one costs more than most of these tests. What a test leaves behind (storage, caches, sockets)
belongs to its context and goes with it. The browser belongs to an event loop, so they share one.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Chromium's own address bar is made of pages, which load with every window and nobody sees: each test paid
#: more processor time for them than for the page that it tests. ``Target.getTargets`` of a browser-wide CDP
#: session lists them as ``browser_ui``. Versions that do not know these names pass them over.
_OWN_PAGES = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "PreloadTopChromeWebUI")
#: Of several lists of features only the last one counts, so what playwright turns off is said again: above
#: all that an address of ours stays HTTP, and that a new page is shown at once.
_AS_PLAYWRIGHT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
#: What every browser of these tests is started with.
ARGUMENTS = ("--no-sandbox", f"--disable-features={','.join(_OWN_PAGES + _AS_PLAYWRIGHT)}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The event loop of the browser is that of its tests."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """Chromium without a context; those that the test makes are closed behind it."""
    yield chromium
    for context in chromium.contexts:
        await context.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The system's Chromium, in which class.test is a name of ours that is no secure context."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    assert path, f"none of {', '.join(NAMES)} is installed: make test says how"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path,
            args=[*ARGUMENTS, "--host-resolver-rules=MAP class.test 127.0.0.1"],
        )
        yield browser
        await browser.close()
