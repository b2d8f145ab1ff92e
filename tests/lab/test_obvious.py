"""The five obvious streamers: each check fails on the broken one and passes on the mended one."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "obvious"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def load(name: str, part: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"obvious_{name}_{part}", FOLDER / name / f"{part}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_five() -> None:
    assert len(NAMES) == 5


@pytest.mark.parametrize("name", NAMES)
def test_the_check_finds_the_bug(name: str) -> None:
    with pytest.raises(AssertionError):
        load(name, "check").check(load(name, "broken"))


@pytest.mark.parametrize("name", NAMES)
def test_the_repair_passes(name: str) -> None:
    load(name, "check").check(load(name, "mended"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("part", ["broken", "mended"])
def test_each_is_short_enough_to_be_read_at_a_glance(name: str, part: str) -> None:
    assert len((FOLDER / name / f"{part}.py").read_text().splitlines()) <= 25


async def test_the_comfortable_test_sees_nothing() -> None:
    await load("hidden", "check").comfortable(load("hidden", "broken"))
