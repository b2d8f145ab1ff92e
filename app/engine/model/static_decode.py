"""The single rows of a step with fixed shapes, so that CUDA can replay them as one graph.

On a GPU launching some four hundred operators takes longer than running them. A CUDA graph
launches them all at once, if every shape and address stays: rows are padded to a power of two with rows
of a spare slot, and attention to a power of two of positions under a mask. One graph for each
pair, captured on first use. Without ``graphs`` the same computation runs operator by operator,
which is how it is tested where there is no GPU. It refuses to know prompts' pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from app.engine.model.batch import Batch
from app.engine.model.kv_tensors import KVTensors
from app.engine.model.llama import Llama

#: Shorter sequences share one graph: attention to so few positions costs next to nothing.
_SHORTEST = 256


class StaticAttention:
    """Attention (attention.Attention) of rows whose slots and positions are read from tensors."""

    def __init__(self, slots: torch.Tensor, positions: torch.Tensor, length: int) -> None:
        self._slots, self._positions, self._length = slots, positions, length
        reach = torch.arange(length, device=slots.device)
        self._mask = (reach <= positions[:, None])[:, None, None]  # [rows, 1, 1, length]

    def write(self, keys_values: torch.Tensor, cache: torch.Tensor) -> None:
        """Put [rows, 2, kv_heads, dim] where the rows' positions are."""
        cache[:, self._slots, :, self._positions] = keys_values

    def __call__(self, queries: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        """[rows, kv_heads, heads per kv_head, dim] -> [rows, heads * dim]."""
        # The slots change under a graph, so their caches are gathered: [2, rows, heads, length, dim].
        keys, values = cache[:, :, :, : self._length].index_select(1, self._slots).unbind(0)
        return F.scaled_dot_product_attention(queries, keys, values, attn_mask=self._mask).flatten(1)


@dataclass(frozen=True, slots=True)
class _Captured:
    """A graph, the numbers it reads [3: token ids, slots, positions; rows], the logits it writes."""

    graph: Any
    numbers: torch.Tensor
    logits: torch.Tensor


class StaticDecode:
    """Forward passes of batches that have single rows only."""

    def __init__(
        self, model: Llama, kv: KVTensors, spare_slot: int, context_tokens: int, graphs: bool
    ) -> None:
        self._model, self._kv, self._spare, self._context = model, kv, spare_slot, context_tokens
        self._device = model.numerics.device
        self._captured: dict[tuple[int, int], _Captured] = {}
        self._graphs = graphs
        self._pool = torch.cuda.graph_pool_handle() if graphs else None

    def __call__(self, batch: Batch) -> torch.Tensor:
        """Write the rows' keys and values; float32 logits of ``batch.wanted``, the caller's to keep."""
        assert not batch.spans
        count = len(batch.token_ids)
        rows = _power_of_two(count)
        length = min(self._context, max(_SHORTEST, _power_of_two(max(batch.positions) + 1)))
        padding = [0] * (rows - count)
        numbers = torch.tensor([
            batch.token_ids + padding, batch.slots + [self._spare] * len(padding), batch.positions + padding
        ])  # fmt: skip
        wanted = torch.tensor(batch.wanted, device=self._device)
        if not self._graphs:
            return self._run(numbers.to(self._device), length)[wanted]
        captured = self._captured.get((rows, length)) or self._capture(rows, length)
        captured.numbers.copy_(numbers.pin_memory(), non_blocking=True)
        captured.graph.replay()
        # Picking rows copies them: the next replay writes over the graph's own.
        return captured.logits[wanted]

    # Private

    def _run(self, numbers: torch.Tensor, length: int) -> torch.Tensor:
        token_ids, slots, positions = numbers.unbind(0)
        attention = StaticAttention(slots, positions, length)
        every = torch.arange(numbers.shape[1], device=self._device)
        return self._model.forward(token_ids, positions, attention, self._kv, every)

    def _capture(self, rows: int, length: int) -> _Captured:
        numbers = torch.zeros(3, rows, dtype=torch.long, device=self._device)
        numbers[1] = self._spare
        # CUDA wants operators to have run once, on a stream of their own, before they are captured.
        own: Any = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        current = torch.cuda.current_stream()
        own.wait_stream(current)
        with torch.cuda.stream(own):
            self._run(numbers, length)
        current.wait_stream(own)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            logits = self._run(numbers, length)
        captured = _Captured(graph, numbers, logits)
        self._captured[rows, length] = captured
        return captured


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()
