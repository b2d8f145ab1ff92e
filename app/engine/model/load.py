"""From settings to a Runner and a Tokenizer: find, choose numerics, read weights, warm up.

It refuses to know what the runner is used for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from app.engine import tokenizer as tokenizers
from app.engine import weights
from app.engine.model import numerics as numbers
from app.engine.model.architecture import Architecture, parse
from app.engine.model.llama import Llama
from app.engine.model.numerics import Numerics
from app.engine.model.runner import Runner
from app.engine.model.tensors import GROUP, Tensors
from app.engine.runner_protocol import Chunk
from app.engine.tokenizer import Tokenizer
from app.errors import StartupError
from app.generation import ModelInfo
from app.settings import Settings

if TYPE_CHECKING:
    from app.engine.model.compiled.model import CompiledLlama
    from app.engine.model.generic import GenericRunner

Progress = Callable[[str, float | None], None]

#: Slots for every sequence of the largest batch: one running, and one kept as a prefix.
_SLOTS_PER_SEQUENCE = 2
#: Share of a GPU's free memory that the KV slots may take; the rest is for activations.
_KV_SHARE = 0.6


def load(settings: Settings, progress: Progress) -> tuple[Runner | GenericRunner, Tokenizer]:
    """The model that ``settings`` names, ready to run. Raises StartupError of one line.

    ``progress(what, part)`` is told what is going on, ``part`` from 0 to 1 or None.
    """
    folder = weights.find(settings, progress)
    torch.set_num_threads(settings.threads or torch.get_num_threads())
    numerics = numbers.choose(settings.device, settings.dtype)
    progress("loading the tokenizer", None)
    tokenizer = tokenizers.load(folder.path)
    progress("loading the weights", 0.0)
    arch = parse(_config(folder.path))
    if arch is None:
        from app.engine.model.generic import load as load_generic

        runner: Runner | GenericRunner = load_generic(folder, numerics, settings)
    else:
        runner = _llama(folder, arch, numerics, settings, progress)
    progress("compiling and warming up" if numerics.compiled else "warming up", None)
    _warm_up(runner)
    return runner, tokenizer


def suited(arch: Architecture, numerics: Numerics) -> Numerics:
    """``numerics``, or torch's for a model whose sizes do not fit the compiled pass."""
    inputs = (arch.hidden, arch.intermediate, arch.heads * arch.head_dim)
    fits = arch.head_dim % 8 == 0 and not any(size % GROUP for size in inputs)
    return numerics if fits or not numerics.compiled else numbers.of_torch()


def form(numerics: Numerics, settings: Settings) -> type[Llama] | type[CompiledLlama]:
    """The class of the forward pass. The compiler keeps its results where models are kept."""
    if not numerics.compiled:
        return Llama
    # Only where it is used: the compiler takes a second to import.
    from app.engine.model.compiled import keep_machine_code

    keep_machine_code(settings.cache_dir / "compiled")
    from app.engine.model.compiled.model import CompiledLlama

    return CompiledLlama


def free_bytes(device: torch.device) -> int:
    """Memory that ``device`` could still give. On a CPU what the kernel gives without swapping; where
    it does not say, half of all."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return free
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


# Private


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise StartupError(f"{folder / 'config.json'} is not JSON: {error}") from None
    if not isinstance(config, dict):
        raise StartupError(f"{folder / 'config.json'} is not a JSON object")
    return config


def _llama(
    folder: weights.ModelFolder,
    arch: Architecture,
    numerics: Numerics,
    settings: Settings,
    progress: Progress,
) -> Runner:
    numerics = suited(arch, numerics)
    with torch.inference_mode():
        tensors = Tensors(folder.path)
        model = form(numerics, settings)(
            tensors, arch, numerics, lambda part: progress("loading the weights", part)
        )
    if numerics.compiled:
        # The crew has all cores now. Two of torch's threads, woken to look for the likeliest token,
        # took longer than one and went on spinning on the cores of those who send the token.
        torch.set_num_threads(1)
    context = min(arch.context_tokens, settings.context_tokens or arch.context_tokens)
    slots = _SLOTS_PER_SEQUENCE * settings.max_batch
    if numerics.device.type != "cpu":
        context = _fitting_context(arch, numerics, slots, context)
    info = ModelInfo(folder.name, context, str(numerics.device), numerics.label)
    return Runner(model, info, slots, context)


def _fitting_context(arch: Architecture, numerics: Numerics, slots: int, context: int) -> int:
    """Tokens a slot can have on a device whose memory is taken at once."""
    per_token = arch.layers * 2 * arch.kv_heads * arch.head_dim * numerics.kv.itemsize
    fitting = int(free_bytes(numerics.device) * _KV_SHARE) // (per_token * (slots + 1)) // 16 * 16
    if fitting < 256:
        raise StartupError(f"the device has no memory left for {slots} KV slots: lower FIRSTWORD_MAX_BATCH")
    return min(context, fitting)


def _warm_up(runner: Runner | GenericRunner) -> None:
    """The first call of each operator is slow; pay here instead of in the first reply."""
    count = min(64, runner.context_tokens - 1)
    runner.step([Chunk(0, 0, [0] * count, True)], [])
    runner.step([], [(0, count, 0)])
    runner.release(0, 0)
