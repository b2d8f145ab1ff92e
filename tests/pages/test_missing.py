"""An address where nothing is: a page for people, the refusal for programs."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/nowhere", "/lab/nowhere", "/j/K7QX2M"])
async def test_a_browser_gets_a_page_with_the_way_back(serve: Callable[..., Any], path: str) -> None:
    running = await serve()
    async with httpx.AsyncClient(base_url=running.url, headers=BROWSER) as client:
        answer = await client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert 'href="/"' in answer.text and 'href="/compare"' in answer.text


@pytest.mark.parametrize("path", ["/api/nowhere", "/v1/nowhere", "/static/nowhere.js"])
async def test_programs_paths_say_the_same_to_a_browser_as_to_a_program(
    serve: Callable[..., Any], path: str
) -> None:
    running = await serve()
    async with httpx.AsyncClient(base_url=running.url) as client:
        asked, seen = await client.get(path), await client.get(path, headers=BROWSER)
    assert (seen.status_code, seen.text) == (asked.status_code, asked.text) and seen.status_code == 404
    assert "text/html" not in seen.headers["content-type"]


async def test_whoever_wants_no_page_gets_one_line(serve: Callable[..., Any]) -> None:
    running = await serve()
    async with httpx.AsyncClient(base_url=running.url) as client:
        asked = await client.get("/nowhere")
        posted = await client.post("/nowhere", headers=BROWSER)
    for answer in (asked, posted):
        assert answer.status_code == 404 and answer.headers["content-type"].startswith("text/plain")
