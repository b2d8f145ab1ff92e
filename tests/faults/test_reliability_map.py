"""docs/reliability.md names every case once, and only tests and drills that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drill.cases import CASES

ROOT = Path(__file__).parents[2]
#: The table of cases; the drill's own results come after it.
MAP = (ROOT / "docs" / "reliability.md").read_text().partition("## The last drill")[0]
ROWS = re.findall(r"^\| ([FE]\d+) \| (.*) \|$", MAP, re.M)
#: What a row may say of where its case is proved.
STATES = ("CI", "drill", "by hand", "part in CI")


def test_every_case_stands_there_once() -> None:
    wanted = [f"F{number:02}" for number in range(1, 31)] + [f"E{number}" for number in range(1, 9)]
    assert [id for id, _ in ROWS] == wanted


@pytest.mark.parametrize(("id", "rest"), ROWS, ids=[id for id, _ in ROWS])
def test_what_a_row_names_exists(id: str, rest: str) -> None:
    _, where, status, figure = (cell.strip() for cell in rest.split(" | "))
    assert status.startswith(STATES)
    drills = {case.id for case in CASES}
    names = re.findall(r"`([^`]+)`", where)
    # Where nothing automatic is named the gap is.
    assert names or figure
    for name in names:
        if name.startswith("drill "):
            assert name.removeprefix("drill ") in drills
            continue
        path, _, test = name.partition("::")
        source = (ROOT / path).read_text()
        assert not test or re.search(rf"^(?:async )?def {test}\(|^{test} = |^class {test}\b", source, re.M), (
            name
        )
