"""docs/chat-page.md names every failure once, and only tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.findall(r"^\| (\d+) \| (.*) \|$", (ROOT / "docs" / "chat-page.md").read_text(), re.M)
#: Of the 54 in the notes those that are about a page and its wires.
WANTED = sorted(set(range(1, 55)) - {4, 5, 12, 19, 22, 26, 34, 44, 50})


def test_every_row_stands_there_once() -> None:
    assert [int(row) for row, _ in ROWS] == WANTED


@pytest.mark.parametrize(("row", "rest"), ROWS, ids=[row for row, _ in ROWS])
def test_what_a_row_names_exists(row: str, rest: str) -> None:
    _, where, note = (cell.strip() for cell in rest.split(" | "))
    names = re.findall(r"`([^`]+)`", where)
    # Where no test is named the gap is.
    assert names or note
    for name in names:
        path, _, test = name.partition("::" if ".py" in name else ": ")
        source = (ROOT / path).read_text()
        if path.endswith(".py"):
            assert re.search(rf"^(?:async )?def {test}\(", source, re.M), name
        else:
            assert test in source, name
