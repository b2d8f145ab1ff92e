"""A Llama-like model in the compiled form: packs the weights at load, and runs one step of rows.

Joins the kernels' arrays to the tensors of the rest of the engine. One thread calls it; a crew
of threads computes. It refuses to know sequences and chunks: a row is a token, a slot and a position.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from app.engine.model import linear as products
from app.engine.model.architecture import Architecture
from app.engine.model.batch import Batch
from app.engine.model.blocks import Block, read
from app.engine.model.compiled.attention import SPARE
from app.engine.model.compiled.crew import Crew
from app.engine.model.compiled.kernels import LAST_PHASES, PHASES, Desk, Rows, Weights, step
from app.engine.model.compiled.packing import BLOCK, Packed, packed
from app.engine.model.kv_tensors import KVTensors
from app.engine.model.numerics import Numerics
from app.engine.model.tensors import GROUP, EightBit, Tensors, Weight
from app.errors import EngineFailed

#: Seconds to bring one token to its reader, and from how many on that is worth leaving a processor for:
#: of 16 readers' tokens 99 in 100 were there within 10 ms instead of 15 (two processors, in turns).
_DELIVERY_S, _CROWD = 0.0002, 8


class CompiledLlama:
    """The model's weights in 4 or 8 bits, and the crew that multiplies them."""

    def __init__(
        self, tensors: Tensors, arch: Architecture, numerics: Numerics, progress: Callable[[float], None]
    ) -> None:
        self.arch, self.numerics = arch, numerics
        table = tensors.weight("model.embed_tokens.weight")
        self._embed = _embedding(table, numerics)
        blocks = []
        for index in range(arch.layers):
            progress(index / arch.layers)
            blocks.append(read(tensors, index, arch))
        head = table if arch.tied else tensors.weight("lm_head.weight")
        self._weights = _weights(blocks, tensors.get("model.norm.weight"), packed([head], [None]))
        self._crew = Crew(torch.get_num_threads())
        self._angles = np.array(arch.rotary, np.float64)
        self._desk: Desk | None = None

    def run(self, batch: Batch, cache: KVTensors) -> torch.Tensor:
        """Write keys and values of the batch's rows; float32 logits of the wanted ones.

        Raises EngineFailed when a row's numbers are infinite, or too large to be kept.
        """
        memory = cache.array
        rows = self._rows(batch)
        desk = self._desk_for(len(rows.x), memory.shape[4])
        logits = np.empty((len(batch.wanted), self._weights.head.bias.shape[1]), np.float32)
        weights, eps = self._weights, np.float32(self.arch.norm_eps)
        num_phases = self.arch.layers * PHASES + LAST_PHASES
        # The step before has made about as many tokens, and they are on their way just now.
        tokens = len(batch.wanted)
        delivery_s = tokens * _DELIVERY_S if tokens >= _CROWD else 0.0
        self._crew.run(
            lambda team: step(team, weights, eps, rows, desk, memory, logits), num_phases, delivery_s
        )
        # Rounding to integers makes numbers of everything: the logits would not tell.
        if not np.isfinite(rows.x).all():
            raise EngineFailed("The model's numbers are infinite, or too large for float16.")
        return torch.from_numpy(logits)[:, : self.arch.vocab]

    # Private

    def _rows(self, batch: Batch) -> Rows:
        wanted = set(batch.wanted)
        order = [*batch.wanted, *(row for row in range(len(batch.slots)) if row not in wanted)]
        positions = np.array(batch.positions, np.int64)[order]
        angles = positions[:, None] * self._angles
        turns = np.stack([np.cos(angles), np.sin(angles)], axis=-1).astype(np.float32)
        x = self._embed(np.array(batch.token_ids)[order])
        return Rows(x, np.array(batch.slots, np.int64)[order], positions, turns, len(wanted))

    def _desk_for(self, num_rows: int, context: int) -> Desk:
        """The desk, a larger one if need be: it only grows, to the largest step there was."""
        if self._desk is None or len(self._desk.values) < num_rows:
            a = self.arch
            widest = max(a.hidden, a.heads * a.head_dim, a.intermediate)
            groups = (-(-num_rows // BLOCK), widest // GROUP, BLOCK)
            self._desk = Desk(
                values=np.empty((num_rows, widest), np.float32),
                codes=np.empty((*groups, GROUP), np.int8),
                wide_codes=np.empty((*groups, GROUP), np.int16),
                measures=np.empty((*groups, 2), np.float32),
                fused=np.empty((num_rows, (a.heads + 2 * a.kv_heads) * a.head_dim), np.float32),
                gated=np.empty((num_rows, 2 * a.intermediate), np.float32),
                scores=np.empty((self._crew.workers, a.heads // a.kv_heads, context + SPARE), np.float32),
            )
        return self._desk


# Private


def _embedding(table: Weight, numerics: Numerics) -> Callable[[np.ndarray], np.ndarray]:
    """ids [rows] -> float32 [rows, hidden]; without torch, whose every operator costs as much."""
    if not isinstance(table, EightBit):
        look_up = products.embedding(table, numerics)
        return lambda ids: look_up(torch.from_numpy(ids)).numpy()
    codes = table.codes.view(len(table.codes), -1, GROUP).numpy()
    scale = table.scale.float().numpy()[..., None]
    return lambda ids: (codes[ids] * scale[ids]).reshape(len(ids), -1)


def _weights(blocks: list[Block], norm: torch.Tensor, head: Packed) -> Weights:
    def norms(name: str) -> np.ndarray:
        each = [getattr(block, name) for block in blocks]
        empty = torch.empty(0)
        return np.stack([(empty if one is None else one).float().numpy() for one in each])

    def product(name: str) -> Packed:
        each = [getattr(block, name) for block in blocks]
        return packed([weight for weight, _ in each], [bias for _, bias in each])

    return Weights(
        before_attention=norms("before_attention"),
        query_key_value=product("query_key_value"),
        query_norm=norms("query_norm"),
        key_norm=norms("key_norm"),
        output=product("output"),
        before_mlp=norms("before_mlp"),
        gate_up=product("gate_up"),
        down=product("down"),
        norm=norm.float().numpy()[None],
        head=head,
    )
