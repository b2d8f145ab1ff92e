"""The standalone page: one HTML file that replays one recording, offline and by itself.

The page's own modules and style sheets go into it unchanged but for the names in their imports: each
module becomes a ``data:`` address in an import map, so the browser runs the same code as on the
server. A policy inside the file forbids every connection. The recording is somebody's text: it is
carried as JSON in which no ``<`` is left. It refuses to know what is in a recording.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from posixpath import dirname, join, normpath

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.errors import BadRequest, TooLarge
from app.replay.library import shipped
from app.replay.recording import MAX_BYTES, read_recording, recording_bytes

ENTRY = "pages/replay.js"
SHEETS = ("tokens", "base", "layout", "race", "race_lane", "race_controls", "race_more")
#: Loaded by name at run time (words.js), so no import statement tells of them.
WORDS = ("common", "failures", "race", "race_numbers")

#: Our own imports: ``from "…"``, and the one composed path, in backticks. An ``import("…")`` in these
#: modules is a type in a comment.
_IMPORT = re.compile(r'(\bfrom )(")(\.{1,2}/[^"`]+)"|(\bimport\()(`)(\.{1,2}/[^"`]+)`')
_LANGUAGES = re.compile(r"LANGUAGES = \[(.*?)\]")
_PREFIX = "firstword/"


def standalone_routes(root: Path) -> Sequence[BaseRoute]:
    """``POST /api/recordings/html`` with any recording; ``GET /api/recordings/{id}/html`` of ours."""

    async def given(request: Request) -> Response:
        body = await _body(request)
        await run_in_threadpool(read_recording, body)
        return _download(await run_in_threadpool(standalone_page, root, body))

    async def ours(request: Request) -> Response:
        recording = shipped().recording(request.path_params["id"])
        return _download(await run_in_threadpool(standalone_page, root, recording_bytes(recording)))

    return [
        Route("/api/recordings/html", given, methods=["POST"]),
        Route("/api/recordings/{id}/html", ours, methods=["GET"]),
    ]


def standalone_page(root: Path, recording: bytes) -> bytes:
    """The file; ``recording`` is checked JSON, ``root`` the folder of static/ and templates/."""
    scripts = root / "static" / "js"
    modules = modules_of(scripts, (ENTRY, *_word_tables(scripts))) | _missing_tables(scripts)
    imports = json.dumps({"imports": {_PREFIX + name: _data_url(text) for name, text in modules.items()}})
    start = f'import "{_PREFIX}{ENTRY}";'
    first_look = (scripts / "pages" / "first_look.js").read_text()
    inline = (imports, start, first_look)
    page = (
        _templates(root)
        .get_template("replay.html")
        .render(
            policy=_policy(inline),
            sheets=Markup(
                "\n".join((root / "static" / "css" / f"{name}.css").read_text() for name in SHEETS)
            ),
            first_look=Markup(first_look),
            imports=Markup(imports),
            start=Markup(start),
            recording=Markup(_harmless(recording.decode())),
        )
    )
    return page.encode()


def modules_of(scripts: Path, entries: Iterable[str]) -> dict[str, str]:
    """Every module that the entries import, directly or not: path below ``scripts`` -> rewritten text."""
    found: dict[str, str] = {}
    ahead = list(entries)
    while ahead:
        name = ahead.pop()
        if name in found:
            continue
        text, imported = rewrite(name, (scripts / name).read_text())
        found[name] = text
        ahead += imported
    return found


def rewrite(name: str, text: str) -> tuple[str, list[str]]:
    """A module's text with import-map names instead of relative paths, and the modules it names."""
    imported: list[str] = []

    def replace(match: re.Match[str]) -> str:
        keyword, quote, relative = [group for group in match.groups() if group is not None]
        path = normpath(join(dirname(name), relative))
        if "$" not in path:
            imported.append(path)
        return f"{keyword}{quote}{_PREFIX}{path}{quote}"

    return _IMPORT.sub(replace, text), imported


# Private


async def _body(request: Request) -> bytes:
    """The request's body. Raises TooLarge before more than the limit is held, BadRequest."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BYTES:
                raise TooLarge(f"the recording is over the limit of {MAX_BYTES} bytes")
    except ClientDisconnect:
        raise BadRequest("the client went away before its request was complete") from None
    return bytes(body)


def _download(page: bytes) -> Response:
    """To be kept, never to be shown under our own address: what is in it came from somebody."""
    headers = {
        "content-disposition": 'attachment; filename="firstword-race.html"',
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    return Response(page, 200, headers, "text/html; charset=utf-8")


@lru_cache(maxsize=4)
def _templates(root: Path) -> Environment:
    return Environment(loader=FileSystemLoader(root / "templates"), autoescape=True)


def _tables(scripts: Path) -> list[str]:
    """All tables of words that the page may ask for, in every language that it may speak."""
    languages = _LANGUAGES.search((scripts / "words.js").read_text())
    assert languages, "words.js names its languages"
    return [f"words/{code}/{name}.js" for code in re.findall(r"\w+", languages[1]) for name in WORDS]


def _word_tables(scripts: Path) -> list[str]:
    return [name for name in _tables(scripts) if (scripts / name).is_file()]


def _missing_tables(scripts: Path) -> dict[str, str]:
    """What a language lacks is said in English, so its table is an empty one."""
    return {name: "export default {};" for name in _tables(scripts) if not (scripts / name).is_file()}


def _data_url(text: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(text.encode()).decode()


def _policy(inline: Iterable[str]) -> str:
    """The file's own Content-Security-Policy: its scripts and nothing else, by hash."""
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline)
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes} data:; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _harmless(text: str) -> str:
    """JSON that may stand in a script element: no ``<`` that could end it, no odd line ends."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
