"""The matrix products: one class for each operator, and which is used for how many rows.

A step is a handful of rows (decode) or a hundred (prefill), and no operator is good at both, so
a weight may be held twice. ``Split`` picks by rows. The crossover is a table by CPU capability,
measured by bench/operators.py, and not a calibration at start: the same prompt should take the
same operators on every start. The torch operators with private names are tried at load
and must agree with the plain product; otherwise the plain product is used.

Every product takes and gives the compute dtype, and both parts of a Split have the same weights
(to bf16's 8 bits). What is exactly equal for a row whatever its neighbours is Int4's result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
import torch.nn.functional as F

from app.engine.model.numerics import Numerics
from app.engine.model.tensors import Dense, EightBit, FourBit, Weight


class Linear(Protocol):
    """x [rows, in] -> [rows, out], in the compute dtype."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor: ...


class Plain:
    """torch's own product; right on every device."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self._weight, self._bias = weight, bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self._weight, self._bias)


class Prepacked:
    """oneDNN's bf16 product with the weight reordered once instead of at each call."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), 64)
        self._bias = bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "none", [], "")
        return y


class Int4:
    """bf16 x with 4-bit codes in groups of 32, multiplied without unpacking the weight to memory."""

    def __init__(self, weight: FourBit, bias: torch.Tensor | None = None) -> None:
        self._packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(weight.unpacked().int(), 1)
        scale, zero = weight.scale_and_zero()
        self._scales = torch.stack([scale.t(), zero.t()], dim=-1).contiguous()  # [in/32, out, 2]
        self._bias = bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(x, self._packed, 32, self._scales)
        return y if self._bias is None else y.add_(self._bias)


class Int8:
    """bf16 x with 8-bit codes and one scale for each output."""

    def __init__(self, codes: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self._codes, self._scale, self._bias = codes, scale, bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.ops.aten._weight_int8pack_mm(x, self._codes, self._scale)
        return y if self._bias is None else y.add_(self._bias)


class Split:
    """``few`` up to ``limit`` rows, ``many`` above."""

    def __init__(self, few: Linear, many: Linear, limit: int) -> None:
        self._few, self._many, self._limit = few, many, limit

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self._few(x) if x.shape[0] <= self._limit else self._many(x)


def linear(weight: Weight, bias: torch.Tensor | None, numerics: Numerics) -> Linear:
    """The fastest product for ``weight`` that ``numerics`` allows and this machine can do."""
    if not numerics.packed:
        dense = weight.dense(numerics.compute).to(numerics.device).contiguous()
        return Plain(dense, _to(bias, numerics.compute, numerics.device))
    seen = weight.as_operator_sees() if isinstance(weight, FourBit) else weight.dense(torch.float32)
    many = _many(seen, bias, numerics)
    narrow = _to(bias, torch.bfloat16, numerics.device)
    if isinstance(weight, FourBit):
        return _split(lambda: Int4(weight, narrow), many, seen, bias, numerics.int4_rows)
    return many


def head(weight: Weight, numerics: Numerics) -> Linear:
    """The output head: 8 bits a weight for few rows; never 4, which make visibly worse text."""
    if not numerics.packed:
        return linear(weight, None, numerics)
    codes, scale = per_row(weight.dense(torch.float32))
    seen = codes.float().mul_(scale.float()[:, None])
    return _split(lambda: Int8(codes, scale), _many(seen, None, numerics), seen, None, numerics.int8_rows)


def per_row(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """float32 [out, in] -> int8 codes and bf16 scale [out], the codes fitted to the rounded scale."""
    scale = (weight.abs().amax(dim=1) / 127).clamp_min(1e-12).bfloat16()
    codes = torch.round(weight / scale.float()[:, None]).clamp_(-127, 127).to(torch.int8)
    return codes, scale


def embedding(weight: Weight, numerics: Numerics) -> Callable[[torch.Tensor], torch.Tensor]:
    """ids [rows] -> float32 [rows, hidden] for a table kept in 8-bit groups, else a dense one."""
    if isinstance(weight, EightBit) and numerics.packed:
        codes, scale = weight.codes, weight.scale.float()

        def look_up(ids: torch.Tensor) -> torch.Tensor:
            return EightBit(codes[ids], scale[ids]).dense(torch.float32)

        return look_up
    stored = weight.weight.dtype if isinstance(weight, Dense) else numerics.compute
    table = weight.dense(stored).to(numerics.device)
    return lambda ids: F.embedding(ids, table).to(numerics.residual)


# Private


def _to(bias: torch.Tensor | None, dtype: torch.dtype, device: torch.device) -> torch.Tensor | None:
    return None if bias is None else bias.to(device, dtype)


def _many(seen: torch.Tensor, bias: torch.Tensor | None, numerics: Numerics) -> Linear:
    weight, narrow = seen.bfloat16(), _to(bias, torch.bfloat16, numerics.device)
    return _agreeing(lambda: Prepacked(weight, narrow), seen, bias) or Plain(weight, narrow)


def _split(
    few: Callable[[], Linear], many: Linear, seen: torch.Tensor, bias: torch.Tensor | None, limit: int
) -> Linear:
    checked = _agreeing(few, seen, bias)
    return many if checked is None else Split(checked, many, limit)


def _agreeing(make: Callable[[], Linear], seen: torch.Tensor, bias: torch.Tensor | None) -> Linear | None:
    """The product that ``make`` builds, or None where it does not exist, work or agree.

    Three bf16 rows against the plain float32 product: rounding differs by under 1 % of the size.
    """
    x = torch.randn(3, seen.shape[1], generator=torch.Generator().manual_seed(0)).bfloat16()
    try:
        made = make()
        got = made(x).float()
    except (RuntimeError, AttributeError, NotImplementedError):
        return None
    right = F.linear(x.float(), seen, None if bias is None else bias.float())
    near = (got - right).abs().max() <= 0.02 * right.abs().max()
    return made if near else None
