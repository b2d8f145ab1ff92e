"""The forward pass of Llama-like models, written by hand: few operators, nothing repeated.

Fused query/key/value and gate/up products; rotary as one complex multiplication in place (query
and key rows are put in pairs at load); a norm of four small operators. All rows of a step go
through the products together. It refuses to know chunks, sequences and where weights come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from app.engine.model import linear as products
from app.engine.model.architecture import Architecture
from app.engine.model.attention import Attention, StepAttention
from app.engine.model.batch import Batch
from app.engine.model.blocks import Block, read
from app.engine.model.kv_tensors import KVTensors
from app.engine.model.linear import Linear
from app.engine.model.numerics import Numerics
from app.engine.model.tensors import Tensors

Norm = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Layer:
    """One block. ``query_norm`` and ``key_norm`` are Qwen3's, None elsewhere."""

    before_attention: Norm
    query_key_value: Linear
    query_norm: Norm | None
    key_norm: Norm | None
    output: Linear
    before_mlp: Norm
    gate_up: Linear
    down: Linear


class Llama:
    """The model's weights in the form this machine multiplies fastest."""

    def __init__(
        self, tensors: Tensors, arch: Architecture, numerics: Numerics, progress: Callable[[float], None]
    ) -> None:
        self.arch, self.numerics = arch, numerics
        table = tensors.weight("model.embed_tokens.weight")
        self._embed = products.embedding(table, numerics)
        self._head = products.head(table if arch.tied else tensors.weight("lm_head.weight"), numerics)
        self._layers = []
        for index in range(arch.layers):
            progress(index / arch.layers)
            self._layers.append(_layer(read(tensors, index, arch), arch, numerics))
        self._norm = norm(tensors.get("model.norm.weight"), arch.norm_eps, numerics)
        self._turns = torch.tensor(arch.rotary, dtype=torch.float32, device=numerics.device)

    def run(self, batch: Batch, cache: KVTensors) -> torch.Tensor:
        """Write keys and values of the batch's rows; float32 logits of the wanted ones."""
        device = self.numerics.device
        attention = StepAttention(batch, self.arch.head_dim, self.numerics.kv, device)
        ids, positions, wanted = (
            torch.tensor(numbers, dtype=torch.long, device=device)
            for numbers in (batch.token_ids, batch.positions, batch.wanted)
        )
        return self.forward(ids, positions, attention, cache, wanted, batch.num_apart)

    def forward(
        self,
        token_ids: torch.Tensor,
        positions: torch.Tensor,
        attention: Attention,
        cache: KVTensors,
        wanted: torch.Tensor,
        num_apart: int = 0,
    ) -> torch.Tensor:
        """Write keys and values of all rows; float32 logits [len(wanted), vocab] of the wanted ones.

        The products take the first ``num_apart`` rows, none of them wanted, apart from the others.
        """
        x = self._embed(token_ids)  # [rows, hidden]
        angles = positions.float()[:, None, None] * self._turns
        rotation = torch.polar(torch.ones_like(angles), angles)  # [rows, 1, head_dim / 2]
        for index, layer in enumerate(self._layers):
            fused = _apart(layer.query_key_value, layer.before_attention(x), num_apart)
            mixed = self._attend(layer, fused, rotation, attention, cache.layer(index))
            if index == len(self._layers) - 1:
                # What follows the last attention matters only for the rows that are looked at.
                if not len(wanted):
                    return x.new_empty(0, self.arch.vocab, dtype=torch.float32)
                x, mixed, num_apart = x[wanted], mixed[wanted], 0
            x.add_(_apart(layer.output, mixed, num_apart))
            gate, up = _apart(layer.gate_up, layer.before_mlp(x), num_apart).chunk(2, dim=-1)
            x.add_(_apart(layer.down, F.silu(gate).mul_(up), num_apart))
        return self._head(self._norm(x)).float()

    # Private

    def _attend(
        self,
        layer: Layer,
        fused: torch.Tensor,
        rotation: torch.Tensor,
        attention: Attention,
        cache: torch.Tensor,
    ) -> torch.Tensor:
        a, kind = self.arch, self.numerics.kv
        count = len(fused)
        heads = fused.float().view(count, a.heads + 2 * a.kv_heads, a.head_dim)
        turning = heads[:, : a.heads + a.kv_heads]
        if layer.query_norm is not None and layer.key_norm is not None:
            turning[:, : a.heads] = layer.query_norm(turning[:, : a.heads])
            turning[:, a.heads :] = layer.key_norm(turning[:, a.heads :])
        torch.view_as_complex(turning.view(count, -1, a.head_dim // 2, 2)).mul_(rotation)
        attention.write(heads[:, a.heads :].view(count, 2, a.kv_heads, a.head_dim).to(kind), cache)
        queries = heads[:, : a.heads].view(count, a.kv_heads, -1, a.head_dim).to(kind)
        return attention(queries, cache).to(self.numerics.compute)


def norm(weight: torch.Tensor, eps: float, numerics: Numerics, out: torch.dtype | None = None) -> Norm:
    """Root-mean-square norm over the last dimension, into ``out`` (the compute dtype)."""
    size, kind, device = weight.shape[-1], out or numerics.compute, numerics.device
    if device.type != "cpu":
        own = weight.to(device, numerics.residual)
        return lambda x: F.rms_norm(x, (size,), own.to(x.dtype), eps).to(kind)
    # On a CPU F.rms_norm falls apart into nine operators. x / sqrt(mean(x^2) + eps) is
    # x * sqrt(size) / hypot(length of x, sqrt(size * eps)): four, the root folded into the weight.
    scaled = weight.float() * size**0.5
    floor = torch.tensor((size * eps) ** 0.5)

    def apply(x: torch.Tensor) -> torch.Tensor:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return x.div(length.hypot_(floor)).mul_(scaled).to(kind)

    return apply


# Private


def _apart(product: Linear, x: torch.Tensor, num_apart: int) -> torch.Tensor:
    """``product`` of the first rows and of the others, each by the operator for their number."""
    return torch.cat((product(x[:num_apart]), product(x[num_apart:]))) if num_apart else product(x)


def _layer(block: Block, arch: Architecture, numerics: Numerics) -> Layer:
    def own(weight: torch.Tensor) -> Norm:
        return norm(weight, arch.norm_eps, numerics)

    def of_a_head(weight: torch.Tensor | None) -> Norm | None:
        return None if weight is None else norm(weight, arch.norm_eps, numerics, out=torch.float32)

    return Layer(
        before_attention=own(block.before_attention),
        query_key_value=products.linear(*block.query_key_value, numerics),
        query_norm=of_a_head(block.query_norm),
        key_norm=of_a_head(block.key_norm),
        output=products.linear(*block.output, numerics),
        before_mlp=own(block.before_mlp),
        gate_up=products.linear(*block.gate_up, numerics),
        down=products.linear(*block.down, numerics),
    )
