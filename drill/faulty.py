"""Faulty: `firstword serve` whose model runs out of memory or loses its device, as a file says.

`python -m drill.faulty serve …` is the product but for the model's steps. The file that
FIRSTWORD_DRILL_FAULT names holds `memory N` (positions from N on cannot be computed: whoever gets so far
is the offender), `lost` (every step fails as after a CUDA assertion), or nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.engine.process import Emit, Parts, Progress, TellStep
from app.engine.runner_protocol import Chunk, DecodeRow
from app.settings import Settings

if TYPE_CHECKING:
    import torch

FAULT = "FIRSTWORD_DRILL_FAULT"


class FaultyRunner:
    """A model's runner whose steps fail on request; everything else is the runner's."""

    def __init__(self, runner: Any, fault: Path) -> None:
        self._runner = runner
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    def step(self, chunks: Sequence[Chunk], decode: Sequence[DecodeRow]) -> torch.Tensor:
        """The runner's step, or the error that a device would raise."""
        import torch

        kind, _, limit = self._fault.read_text().partition(" ")
        if kind == "lost":
            raise RuntimeError("CUDA error: device-side assert triggered")
        if kind == "memory":
            ends = [chunk.start + len(chunk.token_ids) for chunk in chunks]
            ends += [position for _, position, _ in decode]
            if any(end > int(limit) for end in ends):
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate more than there is.")
        logits: torch.Tensor = self._runner.step(chunks, decode)
        return logits


def assemble(settings: Settings, progress: Progress, emit: Emit, tell_step: TellStep) -> Parts:
    """The engine's factory: the product's own, with a runner that fails."""
    from app.engine import assembly

    load = vars(assembly)["load"]

    def faulty(settings: Settings, progress: Progress) -> Any:
        runner, tokenizer = load(settings, progress)
        return FaultyRunner(runner, Path(os.environ[FAULT])), tokenizer

    vars(assembly)["load"] = faulty
    return assembly.assemble(settings, progress, emit, tell_step)


def main() -> None:
    """The command line, with our factory in the engine's."""
    from app import cli
    from app import main as product
    from app.engine.supervisor import LocalEngine

    vars(product)["LocalEngine"] = partial(LocalEngine, factory="drill.faulty:assemble")
    cli.main()


if __name__ == "__main__":
    main()
