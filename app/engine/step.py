"""One planned step, computed; when it fails, only for the sequence at fault.

The memory's copies and releases come first, then all rows together. If that raises, every
sequence is tried again alone (doing the same work twice is harmless), so that exactly those fail
that cannot be computed. Out of memory first gives the cached prefixes back. A lost device is
raised to the loop. This module refuses to know tokens' meaning and what failed sequences are told.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import torch

from app.engine.failures import as_failure, is_out_of_memory, is_sticky
from app.engine.kv_memory import Action, Copy, KvMemory
from app.engine.plan import Plan
from app.engine.runner_protocol import Chunk, DecodeRow, ModelRunner
from app.engine.sequence import Sequence
from app.errors import EngineFailed, FirstwordError

logger = logging.getLogger(__name__)

Failures = dict[Sequence, FirstwordError]
#: One sequence's part of a step: its piece of prompt or its decode row.
Job = tuple[Sequence, Chunk | DecodeRow]


def compute(
    runner: ModelRunner, plan: Plan, memory: KvMemory, before: Callable[[list[str]], None] | None = None
) -> tuple[torch.Tensor | None, Failures]:
    """Logits of those that want them and did not fail, in the plan's order (None: of nobody).

    ``before`` is called with the ids before each attempt and may raise. Raises what says that the
    device is lost.
    """
    broken = _prepare(runner, plan.memory)
    failures: Failures = {}
    planned: list[Job] = [*plan.prefill, *((sequence, _row(sequence)) for sequence in plan.decode)]
    jobs: list[Job] = []
    for sequence, work in planned:
        if sequence.slot in broken:
            failures[sequence] = broken[sequence.slot]
        else:
            jobs.append((sequence, work))
    if not jobs:
        return None, failures
    try:
        return _attempt(runner, jobs, before), failures
    except Exception as error:
        if is_sticky(error):
            raise
        logger.exception("a step of %d sequences failed; each is tried alone", len(jobs))
        if is_out_of_memory(error):
            _free_caches(runner, memory)
    parts: list[torch.Tensor] = []
    for job in jobs:
        try:
            if (part := _attempt(runner, [job], before)) is not None:
                parts.append(part)
        except Exception as error:
            if is_sticky(error):
                raise
            failures[job[0]] = as_failure(error)
    return (torch.cat(parts) if parts else None), failures


# Private


def _row(sequence: Sequence) -> DecodeRow:
    assert sequence.slot is not None and sequence.computed == len(sequence.token_ids) - 1
    return sequence.slot, sequence.computed, sequence.token_ids[-1]


def _attempt(
    runner: ModelRunner, jobs: list[Job], before: Callable[[list[str]], None] | None
) -> torch.Tensor | None:
    if before is not None:
        before([sequence.id for sequence, _ in jobs])
    chunks = [work for _, work in jobs if isinstance(work, Chunk)]
    rows = [work for _, work in jobs if not isinstance(work, Chunk)]
    logits = runner.step(chunks, rows)
    wanted = len(rows) + sum(chunk.wants_logits for chunk in chunks)
    assert logits.shape[0] == wanted, "the runner broke its promise"
    return logits if wanted else None


def _prepare(runner: ModelRunner, actions: tuple[Action, ...]) -> dict[int, FirstwordError]:
    """Copy and release, in order; returns the slots whose copy failed."""
    broken: dict[int, FirstwordError] = {}
    for action in actions:
        if not isinstance(action, Copy):
            runner.release(action.slot, action.keep_tokens)
            continue
        try:
            if action.src in broken:
                raise EngineFailed("The beginning it shares with another reply could not be copied.")
            runner.copy(action.src, action.dst, action.num_tokens)
        except Exception as error:
            if is_sticky(error):
                raise
            logger.exception("copying a shared prefix failed")
            broken[action.dst] = as_failure(error)
    return broken


def _free_caches(runner: ModelRunner, memory: KvMemory) -> None:
    memory.drop_cache()
    _prepare(runner, memory.take_actions())
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
