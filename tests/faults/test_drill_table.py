"""The drill's own decisions: what is unharmed, and that a new run replaces only its own rows."""

from __future__ import annotations

import pytest

from drill.case import Case, Finding, Scale, merged, row
from drill.streams import p95, unharmed


async def nothing(scale: Scale) -> Finding:
    return Finding("nothing", True)


def test_a_new_run_replaces_its_own_rows_and_keeps_the_others() -> None:
    old = merged("", [row(Case(id, "c", nothing), Finding("old", True), "then") for id in ("F08", "F02")])
    new = merged(old, [row(Case("F08", "c", nothing), Finding("a|b", False), "now")])
    assert new.splitlines()[2:] == ["| F02 | c | old | pass | then |", "| F08 | c | a/b | **FAIL** | now |"]
    assert merged(new, []) == new


def test_what_was_not_played_neither_passes_nor_fails() -> None:
    case = Case("F08", "c", nothing)
    assert row(case, Finding("nginx is not installed", None), "now").endswith("| not played | now |")


def test_others_are_unharmed_within_the_ratio_or_the_grace() -> None:
    assert p95([float(n) for n in range(1, 101)]) == 96.0 and p95([]) == float("inf")
    assert unharmed([100.0], [110.0]) and not unharmed([100.0], [111.0])
    assert unharmed([10.0], [15.0]) and not unharmed([10.0], [15.1])
    assert not unharmed([10.0], [])


@pytest.mark.parametrize(
    ("scale", "minutes"), [(Scale(), 10), (Scale(quick=True), 1), (Scale(True, 3), 3), (Scale(False, 3), 3)]
)
def test_a_case_lasts_as_long_as_it_is_told(scale: Scale, minutes: float) -> None:
    assert scale.lasting(1, 10) == minutes
