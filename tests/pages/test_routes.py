"""The page's routes on a real socket: what is served, how it is labelled, and what never leaves."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.pages.policy import page_headers
from app.pages.vendor import installed_libraries, vendor_file


async def test_the_page_forbids_scripts_images_and_connections_from_elsewhere(
    serve: Callable[..., Any],
) -> None:
    running = await serve()
    async with httpx.AsyncClient(base_url=running.url) as client:
        answer = await client.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'"):
        assert part in policy
    assert f"ws://127.0.0.1:{running.port}" in policy
    assert "unsafe" not in policy
    assert "innerHTML" not in answer.text and "<script>" not in answer.text


async def test_static_files_are_asked_for_again_and_mostly_not_sent_again(serve: Callable[..., Any]) -> None:
    running = await serve()
    async with httpx.AsyncClient(base_url=running.url) as client:
        for path in ("/static/js/pages/chat.js", "/static/css/tokens.css", "/static/icons/firstword.svg"):
            first = await client.get(path)
            assert first.headers["cache-control"] == "no-cache"
            again = await client.get(path, headers={"if-none-match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        script = await client.get("/static/js/pages/chat.js")
        assert script.headers["content-type"].startswith("text/javascript")


async def test_only_the_named_library_files_leave_node_modules(serve: Callable[..., Any]) -> None:
    running = await serve()
    async with httpx.AsyncClient(base_url=running.url) as client:
        for path in ("marked/package.json", "typescript/lib/tsc.js", "marked/lib/../package.json", ""):
            assert (await client.get(f"/static/vendor/{path}")).status_code == 404
        assert (await client.get("/static/%2e%2e/pyproject.toml")).status_code == 404


@pytest.fixture
def node_modules(tmp_path: Path) -> Path:
    for name in ("marked/lib/marked.esm.js", "marked/package.json", "temml/dist/temml.mjs"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    return tmp_path


def test_a_library_file_is_served_when_it_is_allowed_and_there(node_modules: Path) -> None:
    assert vendor_file(node_modules, "marked/lib/marked.esm.js") == node_modules / "marked/lib/marked.esm.js"
    for path in (
        "marked/package.json",
        "marked/lib/../package.json",
        "temml/dist/Temml-Local.css",
        "@speed-highlight/core/dist/languages/../index.js",
        "/etc/passwd",
        "marked/lib/marked.esm.js\n",
    ):
        assert vendor_file(node_modules, path) is None


def test_the_page_learns_which_libraries_are_installed(node_modules: Path, tmp_path: Path) -> None:
    assert installed_libraries(node_modules) == ("marked", "temml")
    assert installed_libraries(tmp_path / "nowhere") == ()


@pytest.mark.parametrize("host", ["a b", "x; script-src *", "a\r\nb", "", "host:port", "a/b"])
def test_a_host_that_is_none_is_not_written_into_the_policy(host: str) -> None:
    assert "ws:" not in page_headers(host)["content-security-policy"]


@pytest.mark.parametrize("host", ["10.0.0.5:8000", "class.example", "[::1]:8000"])
def test_the_sockets_of_the_own_host_are_allowed(host: str) -> None:
    assert f"ws://{host} wss://{host}" in page_headers(host)["content-security-policy"]
