"""`firstword models`: what lies on this machine, looked at and not touched."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands import model_list
from app.commands.model_list import gguf_strings, hub_folder, installed
from app.engine.weights import copy_name


def gguf(*pairs: tuple[str, object]) -> bytes:
    """The beginning of a GGUF file with these keys."""
    data = struct.pack("<4sIQQ", b"GGUF", 3, 0, len(pairs))
    for key, value in pairs:
        data += struct.pack("<Q", len(key)) + key.encode()
        if isinstance(value, str):
            data += struct.pack("<IQ", 8, len(value.encode())) + value.encode()
        elif isinstance(value, int):
            data += struct.pack("<II", 4, value)
        else:
            data += struct.pack("<I", 9)
    return data


def test_a_gguf_files_strings_are_read_up_to_its_first_array() -> None:
    data = gguf(("a", "x"), ("n", 7), ("general.license", "mit"), ("tokens", []), ("late", "y"))
    assert gguf_strings(io.BytesIO(data)) == {"a": "x", "general.license": "mit"}


@pytest.mark.parametrize("cut", range(0, 60, 3))
def test_a_cut_or_foreign_file_gives_what_was_readable(cut: int) -> None:
    data = gguf(("a", "x"), ("general.license", "mit"))
    assert set(gguf_strings(io.BytesIO(data[:cut]))) <= {"a", "general.license"}
    assert gguf_strings(io.BytesIO(b"PK\x03\x04" + b"\xff" * 60)) == {}


def test_a_string_of_absurd_length_is_not_read() -> None:
    data = struct.pack("<4sIQQQ", b"GGUF", 3, 0, 1, 2**60)
    assert gguf_strings(io.BytesIO(data)) == {}


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A packaged file, a converted copy beside its lock, and a hub with one usable and one other model."""
    file = tmp_path / "Tiny-1M.Q4_1.gguf"
    file.write_bytes(gguf(("general.license", "apache-2.0")))
    monkeypatch.setattr(model_list, "packaged_file", lambda: file)
    cache, hub = tmp_path / "cache", tmp_path / "hub"
    for name in ("Tiny-1M.Q4_1-000000000000", copy_name(file), "mine-0123456789ab"):
        copy = cache / "models" / name
        copy.mkdir(parents=True)
        (copy / "config.json").write_bytes(b"x" * 100)
    (cache / "models" / "Tiny-1M.Q4_1-0123456789ab.lock").touch()
    for name, weights in (("models--org--good", "model.safetensors"), ("models--org--pickle", "model.bin")):
        snapshot = hub / name / "snapshots" / "abc"
        blobs = hub / name / "blobs"
        snapshot.mkdir(parents=True)
        blobs.mkdir()
        (blobs / "1").write_bytes(b"w" * 1000)
        (snapshot / weights).symlink_to(blobs / "1")
        (snapshot / "README.md").write_text("---\nlicense: mit\n---\n")
    return cache, hub


def test_models_are_listed_with_size_licence_and_place(caches: tuple[Path, Path]) -> None:
    packaged, *copies, hub = installed(*caches)
    converted = copies[0]
    assert (packaged.name, packaged.kind, packaged.default) == ("Tiny-1M", "packaged", True)
    assert packaged.licence == "apache-2.0"
    assert (converted.name, converted.bytes, converted.use) == ("Tiny-1M.Q4_1", 100, None)
    assert (hub.name, hub.licence, hub.use) == ("org/good", "mit", "org/good")
    assert hub.bytes == 1000 + len("---\nlicense: mit\n---\n")


def test_it_is_said_which_copy_the_default_is_served_from(caches: tuple[Path, Path]) -> None:
    copies = [model for model in installed(*caches) if model.kind == "converted"]
    assert [(copy.name, copy.current) for copy in copies] == [
        ("Tiny-1M.Q4_1", False),
        ("Tiny-1M.Q4_1", True),
        ("mine", None),
    ]


def test_the_command_prints_them_for_people_and_for_programs(
    caches: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, hub = caches
    (cache / "models").parent.rename(cache.with_name("firstword"))
    env = {"XDG_CACHE_HOME": str(cache.parent), "HF_HUB_CACHE": str(hub)}
    shown = CliRunner().invoke(app, ["models"], env=env)
    told = json.loads(CliRunner().invoke(app, ["models", "--json"], env=env).stdout)
    assert shown.exit_code == 0
    assert "the default" in " ".join(shown.output.split())
    assert "firstword serve --model org/good" in shown.output
    assert told["default"] == "Tiny-1M"
    assert [model["kind"] for model in told["models"]] == ["packaged", *["converted"] * 3, "hub"]
    assert "in use for the default" in " ".join(shown.output.split())


def test_the_hubs_folder_follows_its_own_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.delenv("HF_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert hub_folder() == tmp_path / "huggingface" / "hub"
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    assert hub_folder() == tmp_path / "hf" / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "x"))
    assert hub_folder() == tmp_path / "x"
