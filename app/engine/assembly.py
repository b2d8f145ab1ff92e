"""The local engine put together: model, tokenizer, memory and loop, from the settings.

The one place that knows all parts of the engine's process; it brings torch in and is therefore
imported by that process alone. It refuses to know the pipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from app.engine.kv_blocks import BLOCK_TOKENS, choose_num_blocks
from app.engine.loop import Loop, LoopSettings
from app.engine.model.load import free_bytes, load
from app.engine.process import Emit, Parts, Progress, TellStep
from app.settings import Settings

if TYPE_CHECKING:
    from app.engine.model.generic import GenericRunner
    from app.engine.model.runner import Runner


def assemble(settings: Settings, progress: Progress, emit: Emit, tell_step: TellStep) -> Parts:
    """Load the model and build its loop. Raises StartupError with one line for a person."""
    runner, tokenizer = load(settings, progress)
    loop = Loop(
        runner,
        tokenizer,
        LoopSettings(
            max_batch=settings.max_batch,
            prefill_chunk_tokens=settings.prefill_chunk_tokens,
            prefill_gap_ratio=settings.prefill_gap_ratio,
            paused_kv_percent=settings.paused_kv_percent,
            num_blocks=settings.kv_blocks or _num_blocks(runner, settings.max_batch),
        ),
        emit=emit,
        steps=tell_step,
    )
    # A sequence can be no longer than all the memory there is: the door has to know the smaller limit.
    most_tokens = loop.scheduler.limits.sequence_tokens
    return Parts(runner.info, tokenizer, most_tokens, loop.run, lambda: loop.step_began_ns)


# Private


def _num_blocks(runner: Runner | GenericRunner, max_batch: int) -> int:
    if runner.takes_kv_at_once:
        return runner.num_slots * runner.context_tokens // BLOCK_TOKENS
    return choose_num_blocks(
        max_batch=max_batch,
        context_tokens=runner.context_tokens,
        bytes_per_token=runner.kv_bytes_per_token(),
        free_bytes=free_bytes(torch.device(runner.info.device)),
    )
