"""Lab: ``/lab``, the list of experiments, and ``/lab/<name>``, one of them.

Every experiment has the same page; what it asks and shows is its own module (static/js/components).
It refuses to know what an experiment does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from app.lab.experiments import EXPERIMENTS, number_of
from app.pages.policy import page_headers
from app.pages.vendor import installed_libraries


def lab_routes(root: Path) -> Sequence[BaseRoute]:
    """``/lab`` and ``/lab/{name}``; ``root`` is the folder that holds templates/ and docs/."""
    templates = Jinja2Templates(directory=root / "templates")

    def shown(request: Request, template: str, values: dict[str, Any]) -> Response:
        return templates.TemplateResponse(
            request,
            template,
            {"libraries": installed_libraries(root / "node_modules"), "experiments": EXPERIMENTS, **values},
            headers=page_headers(request.headers.get("host", "")),
        )

    async def index(request: Request) -> Response:
        return shown(request, "lab.html", {})

    async def experiment(request: Request) -> Response:
        name = request.path_params["name"]
        number = number_of(name)
        if number is None:
            raise HTTPException(404, f"no experiment is called so; there are {', '.join(EXPERIMENTS)}")
        if name == "obvious":
            return shown(
                request,
                "lab_obvious.html",
                {"name": name, "number": number, "bugs": _bugs(root / "docs" / "obvious")},
            )
        files = {path.name: path.read_text() for path in sorted((root / "docs" / "lab").glob("*.conf"))}
        return shown(request, "lab_experiment.html", {"name": name, "number": number, "files": files})

    return [
        Route("/lab", index, name="lab"),
        Route("/lab/{name}", experiment, name="lab_experiment"),
    ]


# Private

#: In the order in which a learner meets them.
_BUGS = ("utf8", "packets", "body", "hidden", "cancel")


def _bugs(folder: Path) -> list[dict[str, str]]:
    """Each small program as it stands in its files: broken, its check, mended."""
    return [
        {"name": bug}
        | {part: (folder / bug / f"{part}.py").read_text() for part in ("broken", "check", "mended")}
        for bug in _BUGS
    ]
