"""One block of a Llama-like model as its files hold it: weights gathered, nothing converted.

Query, key and value are one weight, gate and up another; query and key rows are put in pairs, so
that turning a position's angle is one complex multiplication. It refuses to know how products
are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from app.engine.model.architecture import Architecture
from app.engine.model.tensors import Tensors, Weight, rows, stacked
from app.errors import StartupError

#: A product's weight [out, in] and its bias [out].
Product = tuple[Weight, torch.Tensor | None]


@dataclass(frozen=True, slots=True)
class Block:
    """``query_norm`` and ``key_norm`` are Qwen3's, None elsewhere."""

    before_attention: torch.Tensor
    query_key_value: Product
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None
    output: Product
    before_mlp: torch.Tensor
    gate_up: Product
    down: Product


def read(tensors: Tensors, index: int, arch: Architecture) -> Block:
    """Block number ``index``. Raises StartupError when the files lack something."""
    prefix = f"model.layers.{index}."
    pairs = None if arch.rotary_in_pairs else _pairs(arch)
    query_rows, key_rows = pairs or (None, None)

    def product(*names: str, orders: tuple[torch.Tensor | None, ...] = ()) -> Product:
        return _product(tensors, [prefix + name for name in names], orders or (None,) * len(names))

    def head_norm(name: str) -> torch.Tensor | None:
        if prefix + name not in tensors:
            return None
        return tensors.get(prefix + name)[_halves_to_pairs(arch.head_dim) if pairs else slice(None)]

    return Block(
        before_attention=tensors.get(f"{prefix}input_layernorm.weight"),
        query_key_value=product(
            "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", orders=(query_rows, key_rows, None)
        ),
        query_norm=head_norm("self_attn.q_norm.weight"),
        key_norm=head_norm("self_attn.k_norm.weight"),
        output=product("self_attn.o_proj"),
        before_mlp=tensors.get(f"{prefix}post_attention_layernorm.weight"),
        gate_up=product("mlp.gate_proj", "mlp.up_proj"),
        down=product("mlp.down_proj"),
    )


# Private


def _product(tensors: Tensors, names: list[str], orders: tuple[torch.Tensor | None, ...]) -> Product:
    """The named weights as one, each with its output rows in the order given for it."""
    weights, biases = [], []
    for name, order in zip(names, orders, strict=True):
        weight = tensors.weight(f"{name}.weight")
        weights.append(weight if order is None else rows(weight, order))
        if f"{name}.bias" in tensors:
            bias = tensors.get(f"{name}.bias")
            biases.append(bias if order is None else bias[order])
    if biases and len(biases) < len(names):
        raise StartupError(f"the model's safetensors have a bias for only some of {', '.join(names)}")
    return stacked(weights), torch.cat(biases) if biases else None


def _halves_to_pairs(head_dim: int) -> torch.Tensor:
    """Where to take each row from so that the two halves of a head lie side by side in pairs."""
    half = head_dim // 2
    return torch.stack([torch.arange(half), torch.arange(half) + half], dim=1).flatten()


def _pairs(arch: Architecture) -> tuple[torch.Tensor, torch.Tensor]:
    """Row orders of the query and the key weight."""
    one = _halves_to_pairs(arch.head_dim)

    def every(count: int) -> torch.Tensor:
        return (torch.arange(count)[:, None] * arch.head_dim + one).flatten()

    return every(arch.heads), every(arch.kv_heads)
