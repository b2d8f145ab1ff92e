"""Reads a model folder's safetensors: each weight as its file holds it, dense or in groups.

Files are memory-mapped, so that what is not used costs nothing and what is converted is read
once. It refuses to know operators: a weight here is numbers, not yet something that multiplies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from app.errors import StartupError

GROUP = 32


@dataclass(frozen=True, slots=True)
class Dense:
    """A weight [out, in], as stored."""

    weight: torch.Tensor

    def dense(self, dtype: torch.dtype) -> torch.Tensor:
        return self.weight.to(dtype)


@dataclass(frozen=True, slots=True)
class FourBit:
    """``codes`` uint8 [out, in/2], two a byte; ``scale`` and ``low`` [out, in/32]: w = code * scale + low."""

    codes: torch.Tensor
    scale: torch.Tensor
    low: torch.Tensor

    def unpacked(self) -> torch.Tensor:
        """The codes 0..15 as uint8 [out, in]."""
        return torch.stack([self.codes & 15, self.codes >> 4], dim=-1).flatten(1)

    def scale_and_zero(self) -> tuple[torch.Tensor, torch.Tensor]:
        """bf16 [out, in/32] each, for w = (code - 8) * scale + zero: what the 4-bit operator takes."""
        scale = self.scale.float()
        return scale.bfloat16(), (self.low.float() + 8 * scale).bfloat16()

    def dense(self, dtype: torch.dtype) -> torch.Tensor:
        """[out, in], from the scales and minima as stored."""
        scale, low = self.scale.float()[..., None], self.low.float()[..., None]
        return _in_groups(self.unpacked()).mul_(scale).add_(low).flatten(1).to(dtype)

    def as_operator_sees(self) -> torch.Tensor:
        """float32 [out, in] with scale and zero rounded as the 4-bit operator has them."""
        scale, zero = self.scale_and_zero()
        grouped = _in_groups(self.unpacked()).sub_(8)
        return grouped.mul_(scale.float()[..., None]).add_(zero.float()[..., None]).flatten(1)


@dataclass(frozen=True, slots=True)
class EightBit:
    """``codes`` int8 [out, in] and ``scale`` [out, in/32]: w = code * scale."""

    codes: torch.Tensor
    scale: torch.Tensor

    def dense(self, dtype: torch.dtype) -> torch.Tensor:
        grouped = _in_groups(self.codes)
        return grouped.mul_(self.scale.float()[..., None]).flatten(1).to(dtype)


Weight = Dense | FourBit | EightBit


class Tensors:
    """All tensors of a folder by name."""

    def __init__(self, folder: Path) -> None:
        self._file_of: dict[str, Any] = {}
        for file in sorted(folder.glob("*.safetensors")):
            try:
                opened: Any = safe_open(str(file), framework="pt")
            except SafetensorError as error:
                raise StartupError(f"cannot read {file}: {error}") from None
            self._file_of.update(dict.fromkeys(opened.keys(), opened))

    def __contains__(self, name: str) -> bool:
        return name in self._file_of

    def get(self, name: str) -> torch.Tensor:
        """One tensor. Raises StartupError naming it when the folder lacks it."""
        if name not in self._file_of:
            raise StartupError(f"the model's safetensors lack {name}")
        tensor: torch.Tensor = self._file_of[name].get_tensor(name)
        return tensor

    def weight(self, name: str) -> Weight:
        """The weight stored under ``name`` in whatever form."""
        if f"{name}.codes4" in self:
            return FourBit(*(self.get(f"{name}.{part}") for part in ("codes4", "scale", "min")))
        if f"{name}.codes8" in self:
            return EightBit(*(self.get(f"{name}.{part}") for part in ("codes8", "scale")))
        return Dense(self.get(name))


def rows(weight: Weight, index: torch.Tensor) -> Weight:
    """``weight`` with its output rows reordered."""
    return _each([weight], lambda parts: parts[0][index])


def stacked(weights: Sequence[Weight]) -> Weight:
    """Several weights with the same input as one: outputs one after the other."""
    if len({type(weight) for weight in weights}) > 1:
        # A file may keep single tensors in a finer format; together they are dense.
        return Dense(torch.cat([weight.dense(torch.float32) for weight in weights]))
    return _each(weights, torch.cat)


# Private


def _in_groups(codes: torch.Tensor) -> torch.Tensor:
    """Codes [out, in] as float32 [out, in/32, 32]."""
    return codes.view(codes.shape[0], -1, GROUP).float()


def _each(weights: Sequence[Weight], change: Any) -> Weight:
    """Apply ``change`` to each part of weights of one form; all parts have their outputs first."""
    kind = type(weights[0])
    names: tuple[str, ...] = kind.__slots__
    return kind(*(change([getattr(weight, name) for weight in weights]) for name in names))
