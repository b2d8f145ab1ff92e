"""Snippet: a named piece of a source file, so that the lesson shows code that runs and is tested.

A piece stands between the lines ``# [name]`` and ``# [/name]``. It refuses to know files and pages.
"""

from __future__ import annotations

import textwrap


def snippet(source: str, name: str) -> str:
    """The piece called ``name``, without its marks and its indentation. Raises LookupError."""
    lines = source.splitlines()
    marks = [line.strip() for line in lines]
    try:
        begin, end = marks.index(f"# [{name}]"), marks.index(f"# [/{name}]")
    except ValueError:
        raise LookupError(f"no piece called {name!r} in this file") from None
    return textwrap.dedent("\n".join(lines[begin + 1 : end])).strip("\n")
