"""The models on this machine: the packaged one, converted copies, and Hugging Face's cache.

It only looks: nothing is downloaded, converted or loaded. It refuses to know how the list is shown.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from app.engine.weights import copy_name, packaged_file
from app.errors import StartupError

#: packaged: installed with Firstword.  converted: our faster copy of a GGUF file.  hub: downloaded.
Kind = Literal["packaged", "converted", "hub"]

_MAX_KEYS, _MAX_STRING_BYTES = 64, 64 * 1024
#: Bytes of GGUF's scalar types by their number; 8 is a string, 9 an array.
_SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING = 8


class InstalledModel(msgspec.Struct, frozen=True):
    """One model. ``use`` is what ``--model`` takes; None: a copy that is used by itself.

    ``current``: of a converted copy, whether the default model is served from it; False: it was made
    of an earlier file or in an earlier format, and nobody reads it any more. None: not known, since
    it was made of somebody's own file; or no copy.
    """

    name: str
    kind: Kind
    default: bool
    bytes: int
    licence: str | None
    path: str
    use: str | None
    current: bool | None = None


def installed(cache_dir: Path, hub_dir: Path) -> list[InstalledModel]:
    """All models, the default one first."""
    file = _packaged()
    default = [_default(file)] if file is not None else []
    return [*default, *_converted(cache_dir / "models", file), *_hub(hub_dir)]


def hub_folder() -> Path:
    """Where Hugging Face keeps downloads, by its own environment variables."""
    if cache := os.environ.get("HF_HUB_CACHE"):
        return Path(cache)
    base = os.environ.get("XDG_CACHE_HOME")
    home = os.environ.get("HF_HOME") or (Path(base) if base else Path.home() / ".cache") / "huggingface"
    return Path(home) / "hub"


def gguf_strings(file: BinaryIO) -> dict[str, str]:
    """The strings in front of a GGUF file's first array (the vocabulary): name, licence and such.

    The whole file need not be read for them, which would take half a minute. Empty for other files.
    """
    found: dict[str, str] = {}
    try:
        magic, _, _, num_keys = struct.unpack("<4sIQQ", file.read(24))
        for _ in range(min(num_keys, _MAX_KEYS) if magic == b"GGUF" else 0):
            key = _string(file)
            (kind,) = struct.unpack("<I", file.read(4))
            if kind == _STRING:
                found[key] = _string(file)
            elif kind in _SCALARS:
                file.read(_SCALARS[kind])
            else:
                break
    except (struct.error, ValueError):
        pass  # what was read until then is right
    return found


# Private


def _string(file: BinaryIO) -> str:
    (size,) = struct.unpack("<Q", file.read(8))
    if size > _MAX_STRING_BYTES:
        raise ValueError("a string too long")
    return file.read(size).decode("utf-8", "replace")


def _packaged() -> Path | None:
    try:
        return packaged_file()
    except StartupError:
        return None


def _default(file: Path) -> InstalledModel:
    with file.open("rb") as opened:
        licence = gguf_strings(opened).get("general.license")
    name = file.stem.rpartition(".")[0] or file.stem
    return InstalledModel(name, "packaged", True, file.stat().st_size, licence, str(file), None)


def _converted(folder: Path, default: Path | None) -> Iterator[InstalledModel]:
    for copy in sorted(folder.glob("*/config.json")):
        place = copy.parent
        if not place.name.startswith("."):
            name = re.sub(r"-[0-9a-f]{12}$", "", place.name)
            current = place.name == copy_name(default) if default and name == default.stem else None
            yield InstalledModel(name, "converted", False, _size(place), None, str(place), None, current)


def _hub(folder: Path) -> Iterator[InstalledModel]:
    for repository in sorted(folder.glob("models--*")):
        if any(repository.glob("snapshots/*/*.safetensors")):
            name = repository.name.removeprefix("models--").replace("--", "/")
            licence = _card_licence(repository)
            yield InstalledModel(name, "hub", False, _size(repository), licence, str(repository), name)


def _card_licence(repository: Path) -> str | None:
    """The licence that a model's card names, when the card was downloaded."""
    for card in repository.glob("snapshots/*/README.md"):
        with card.open(encoding="utf-8", errors="replace") as opened:
            match = re.search(r"^license:\s*(\S+)", opened.read(_MAX_STRING_BYTES), re.MULTILINE)
        if match:
            return match[1].strip("\"'")
    return None


def _size(folder: Path) -> int:
    """Bytes of all real files; the hub's snapshots are links to them."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
