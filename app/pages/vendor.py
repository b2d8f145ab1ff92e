"""The three npm libraries of the page: which of their files may be fetched, and which are installed.

Nothing else of ``node_modules`` leaves the server. Where npm was not run the list is empty, and the
page shows answers as plain text. It refuses to know what the libraries do.
"""

from __future__ import annotations

import re
from pathlib import Path

#: Library -> the files that the page's modules import, as one pattern below the package's folder.
_ALLOWED: dict[str, re.Pattern[str]] = {
    "marked": re.compile(r"lib/marked\.esm\.js"),
    "@speed-highlight/core": re.compile(r"dist/(?:index|languages/[a-z][a-z-]{0,20})\.js"),
    "temml": re.compile(r"dist/(?:temml\.mjs|Temml-Local\.css|Temml\.woff2)"),
}
#: The file whose presence says that a library is there.
_ENTRY = {
    "marked": "lib/marked.esm.js",
    "@speed-highlight/core": "dist/index.js",
    "temml": "dist/temml.mjs",
}


def vendor_file(node_modules: Path, path: str) -> Path | None:
    """The file behind ``/static/vendor/<path>``, or None where it is not allowed or not installed."""
    for library, allowed in _ALLOWED.items():
        rest = path.removeprefix(f"{library}/")
        if rest != path and allowed.fullmatch(rest):
            file = node_modules / library / rest
            return file if file.is_file() else None
    return None


def installed_libraries(node_modules: Path) -> tuple[str, ...]:
    """Names of the libraries that are there, in the order of the list above."""
    return tuple(name for name, entry in _ENTRY.items() if (node_modules / name / entry).is_file())
