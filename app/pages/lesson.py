"""Lesson: ``/learn``, one text at three depths, in the reader's language.

The text is a template of its own in each language; its code comes from docs/code, where it is
tested, and its numbers begin as those of a shipped recording and become this machine's when the
reader asks for that. It refuses to know how demos and exercises work (static/js/learn).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from app.pages.policy import page_headers
from app.pages.snippet import snippet
from app.pages.vendor import installed_libraries


def lesson_routes(root: Path) -> Sequence[BaseRoute]:
    """``/learn``; ``root`` is the folder that holds templates/ and docs/."""
    templates = Jinja2Templates(directory=root / "templates")
    folder = root / "templates" / "lesson"
    languages = sorted(path.stem for path in folder.glob("*.html"))
    templates.env.globals.update(
        code=partial(_code, root / "docs" / "code"), measured=_measured, demo=_demo, exercise=_exercise
    )

    async def learn(request: Request) -> Response:
        return templates.TemplateResponse(
            request,
            "learn.html",
            {
                "libraries": installed_libraries(root / "node_modules"),
                "language": choose_language(
                    languages,
                    request.query_params.get("lang", ""),
                    request.cookies.get("firstword_language", ""),
                    request.headers.get("accept-language", ""),
                ),
                "languages": languages,
            },
            headers={**page_headers(request.headers.get("host", "")), "vary": "Accept-Language, Cookie"},
        )

    return [Route("/learn", learn, name="learn")]


def choose_language(languages: Sequence[str], *wishes: str) -> str:
    """The first wish that can be granted, English otherwise.

    A wish is a code or an Accept-Language header, whose first entry counts: what comes after it is
    what its reader would rather not read.
    """
    for wish in wishes:
        code = wish.split(",")[0].split(";")[0].split("-")[0].strip().lower()
        if code in languages:
            return code
    return "en"


# Private


def _code(folder: Path, file: str, name: str) -> Markup:
    """A piece of a file of docs/code, with the file's name."""
    text = snippet((folder / file).read_text(), name)
    return Markup(
        '<figure class="source"><figcaption>docs/code/{}</figcaption>'
        '<pre tabindex="0"><code>{}</code></pre></figure>'
    ).format(file, text)


def _measured(number: str) -> Markup:
    return Markup('<span class="measured" data-measured="{}"></span>').format(number)


def _demo(name: str) -> Markup:
    return Markup('<figure class="demo" data-demo="{}"></figure>').format(name)


def _exercise(id: str, kind: str) -> Markup:
    return Markup('<form class="exercise" data-exercise="{}" data-kind="{}"></form>').format(id, kind)
