"""Writes a step's keys and values and attends to them; query heads share keys without repeating.

The query heads of one key head are extra query rows of a batched product (decode) or share the
keys by a stride of zero (prompts). float32 decode is two ``bmm`` and a softmax: measured faster on AVX2 than
scaled_dot_product_attention, which is used for prompts and for bf16. Masks and indices are built
once for a step and serve all layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
import torch.nn.functional as F

from app.engine.model.batch import Batch, Group, Span

#: queries [rows, kv_heads, heads per kv_head, dim], one layer's cache -> [rows, heads * dim]
Attend = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Attention(Protocol):
    """How one step's rows write to a layer's cache [2, slots, heads, context, dim] and attend to it."""

    def write(self, keys_values: torch.Tensor, cache: torch.Tensor) -> None:
        """Put [rows, 2, kv_heads, dim] where the rows' positions are."""
        ...

    def __call__(self, queries: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        """[rows, kv_heads, heads per kv_head, dim] -> [rows, heads * dim]."""
        ...


class StepAttention:
    """One step's attention, ready to be applied to each layer's cache [2, slots, heads, context, dim]."""

    def __init__(self, batch: Batch, head_dim: int, dtype: torch.dtype, device: torch.device) -> None:
        self._scale, self._dtype, self._device = head_dim**-0.5, dtype, device
        self._parts: list[tuple[slice, Attend]] = [
            *((slice(s.first, s.first + s.count), self._for_span(s)) for s in batch.spans),
            *((slice(g.first, g.first + len(g.lengths)), self._for_group(g)) for g in batch.groups),
        ]
        self._write = self._writer(batch)

    def write(self, keys_values: torch.Tensor, cache: torch.Tensor) -> None:
        """Put [rows, 2, kv_heads, dim] where the rows' positions are."""
        self._write(keys_values, cache)

    def __call__(self, queries: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        """[rows, kv_heads, heads per kv_head, dim] -> [rows, heads * dim]."""
        outs = [attend(queries[rows], cache) for rows, attend in self._parts]
        return outs[0] if len(outs) == 1 else torch.cat(outs)

    # Private

    def _writer(self, batch: Batch) -> Callable[[torch.Tensor, torch.Tensor], None]:
        if len(batch.spans) + len(batch.positions) == 1 or (len(batch.spans) == 1 and not batch.groups):
            # One sequence: a strided copy is cheaper than an index write.
            slot, start, end = batch.slots[0], batch.positions[0], batch.positions[-1] + 1

            def write_one(keys_values: torch.Tensor, cache: torch.Tensor) -> None:
                cache[:, slot, :, start:end] = keys_values.permute(1, 2, 0, 3)

            return write_one
        slots = torch.tensor(batch.slots, device=self._device)
        positions = torch.tensor(batch.positions, device=self._device)

        def write_all(keys_values: torch.Tensor, cache: torch.Tensor) -> None:
            cache[:, slots, :, positions] = keys_values

        return write_all

    def _for_span(self, span: Span) -> Attend:
        """A prompt's piece: causal among itself, and everything before it in full."""
        mask = None
        if span.start:
            # Row i stands at position start + i; -inf above that diagonal.
            mask = torch.full((span.count, span.end), float("-inf"), dtype=self._dtype, device=self._device)
            mask = torch.triu(mask, diagonal=span.start + 1)
        slot, end = span.slot, span.end

        def attend(queries: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
            keys, values = cache[:, slot, :, None, :end].expand(-1, -1, queries.shape[2], -1, -1).unbind(0)
            out = F.scaled_dot_product_attention(
                queries.permute(1, 2, 0, 3), keys, values, attn_mask=mask, is_causal=mask is None
            )
            return out.permute(2, 0, 1, 3).flatten(1)

        return attend

    def _for_group(self, group: Group) -> Attend:
        """Single rows of neighbouring slots, padded to the longest."""
        count, longest = len(group.lengths), max(group.lengths)
        mask = None
        if min(group.lengths) < longest:
            lengths = torch.tensor(group.lengths, device=self._device)
            behind = torch.arange(longest, device=self._device) >= lengths[:, None]
            mask = torch.zeros(count, 1, 1, longest, dtype=self._dtype, device=self._device)
            mask.masked_fill_(behind[:, None, None], float("-inf"))
        make = self._by_bmm if self._dtype == torch.float32 and self._device.type == "cpu" else self._by_sdpa
        return make(slice(group.slot, group.slot + count), longest, mask)

    def _by_bmm(self, slots: slice, longest: int, mask: torch.Tensor | None) -> Attend:
        scale, none = self._scale, torch.zeros(1, 1, 1, dtype=self._dtype)

        def attend(queries: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
            rows, heads, share, dim = queries.shape
            # [rows * heads, longest, dim] each, without a copy: slots lie side by side.
            keys, values = cache[:, slots, :, :longest].flatten(1, 2).unbind(0)
            flat = queries.reshape(rows * heads, share, dim)
            if mask is None:
                scores = torch.baddbmm(none, flat, keys.transpose(1, 2), beta=0, alpha=scale)
            else:
                added = mask.expand(rows, heads, share, longest).reshape(rows * heads, share, longest)
                scores = torch.baddbmm(added, flat, keys.transpose(1, 2), alpha=scale)
            return torch.bmm(torch.softmax(scores, dim=-1), values).view(rows, -1)

        return attend

    def _by_sdpa(self, slots: slice, longest: int, mask: torch.Tensor | None) -> Attend:
        def attend(queries: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
            keys, values = cache[:, slots, :, :longest].unbind(0)
            return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask).flatten(1)

        return attend
