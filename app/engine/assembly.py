"""The local engine put together: model, tokenizer, memory and loop, from the settings.

The one place that knows all parts of the engine's process; it brings torch in and is therefore
imported by that process alone. It refuses to know the pipe.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from app.engine.kv_blocks import BLOCK_TOKENS, choose_num_blocks
from app.engine.loop import Loop, LoopSettings
from app.engine.model.load import load
from app.engine.process import Emit, Parts, Progress, TellStep
from app.engine.runner_protocol import ModelRunner
from app.settings import Settings


class SizedRunner(ModelRunner, Protocol):
    """What ``load`` gives beyond what the loop needs."""

    def kv_bytes_per_token(self) -> int:
        """Bytes of KV memory that one token of one sequence holds."""
        ...


class StepClock:
    """When the present step began, for the thread that beats.

    It is told of each beginning and of no end: a step is over when the loop, which counts the
    steps done, has counted on.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._began: tuple[int, int] | None = None  # (steps done before it, when)

    def begin(self, num_steps: int) -> None:
        """A step begins, or a failed one is tried again, after ``num_steps`` steps."""
        self._began = num_steps, self._clock()

    def began_ns(self, num_steps: int) -> int | None:
        """None when the last step that began is among the ``num_steps`` done."""
        began = self._began
        return began[1] if began is not None and began[0] == num_steps else None


def assemble(settings: Settings, progress: Progress, emit: Emit, tell_step: TellStep) -> Parts:
    """Load the model and build its loop. Raises StartupError with one line for a person."""
    runner, tokenizer = load(settings, progress)
    context_tokens = min(settings.context_tokens or runner.context_tokens, runner.context_tokens)
    num_blocks = settings.kv_blocks
    if num_blocks == 0:
        num_blocks = _num_blocks(cast(SizedRunner, runner), settings.max_batch, context_tokens)
    clock = StepClock()
    loop = Loop(
        runner,
        tokenizer,
        LoopSettings(
            max_batch=settings.max_batch,
            prefill_chunk_tokens=settings.prefill_chunk_tokens,
            prefill_gap_ratio=settings.prefill_gap_ratio,
            paused_kv_percent=settings.paused_kv_percent,
            num_blocks=num_blocks,
            context_tokens=context_tokens,
        ),
        emit=emit,
        steps=tell_step,
        before_step=lambda ids: clock.begin(loop.num_steps),
    )
    # A sequence can be no longer than all the memory there is.
    context_tokens = min(context_tokens, num_blocks * BLOCK_TOKENS)
    return Parts(runner.info, tokenizer, context_tokens, loop.run, lambda: clock.began_ns(loop.num_steps))


# Private


def _num_blocks(runner: SizedRunner, max_batch: int, context_tokens: int) -> int:
    if runner.info.device != "cpu":
        # The runner has taken the device's memory at once, as much as there was for all slots.
        return runner.num_slots * context_tokens // BLOCK_TOKENS
    return choose_num_blocks(
        max_batch=max_batch,
        context_tokens=context_tokens,
        bytes_per_token=runner.kv_bytes_per_token(),
        free_bytes=_free_bytes(),
    )


def _free_bytes() -> int:
    """Memory that the kernel would give without swapping; where it does not say, half of all."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
