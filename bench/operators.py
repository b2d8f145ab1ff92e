"""Times the matrix products of one step, operator by operator: `python -m bench.operators`.

The figures behind the crossovers in app/engine/model/numerics.py. It multiplies with random
weights of the default model's shapes, and takes the fastest of several rounds of CPU time on one
thread, which neighbours on the machine disturb least.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import torch

from app.engine.model.compiled.crew import alone, compiled
from app.engine.model.compiled.packing import BLOCK, Packed, packed
from app.engine.model.compiled.products import multiply
from app.engine.model.linear import Int4, Int8, Linear, Plain, Prepacked, per_row
from app.engine.model.tensors import GROUP, Dense, FourBit, Weight

#: (out, in) of the four fused products of a layer, and of the head.
_LAYER = ((960, 576), (576, 576), (3072, 576), (576, 1536))
_HEAD = (49152, 576)
_LAYERS = 30
#: Layers really held: enough to overflow the caches, few enough to fit small machines.
_HELD = 10
_ROWS = (1, 2, 4, 8, 12, 16, 24, 32, 64, 128)


#: (outputs, inputs) -> a product of random weights
Maker = Callable[[int, int], Linear]


def main() -> None:
    """Print two tables: milliseconds of a step's products, and of its head, by rows."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with torch.inference_mode():
        layers = [shape for _ in range(_HELD) for shape in _LAYER]
        makers = {"compiled": _compiled_four, "int4": _int4, "prepacked": _prepacked, "bf16": _bf16}
        _table("all layers", layers, _LAYERS / _HELD, makers)
        _table("head", [_HEAD], 1.0, {"compiled": _compiled_eight, "int8": _int8, "prepacked": _prepacked})


# Private


def _table(title: str, shapes: list[tuple[int, int]], scale: float, makers: Mapping[str, Maker]) -> None:
    print(f"{title}: CPU ms on one thread, {torch.backends.cpu.get_cpu_capability()}")
    print("operator".ljust(12), *(f"{rows:>8}" for rows in _ROWS))
    for name, make in makers.items():
        try:
            products = [(make(*shape), shape[1]) for shape in shapes]
        except RuntimeError:
            print(name.ljust(12), "needs instructions that this processor lacks")
            continue
        print(name.ljust(12), *(f"{scale * _fastest(products, rows):8.1f}" for rows in _ROWS), flush=True)


def _fastest(products: list[tuple[Linear, int]], rows: int, rounds: int = 5) -> float:
    inputs = {size: torch.randn(rows, size).bfloat16() for _, size in products}
    times = []
    for _ in range(rounds):
        begin = time.thread_time()
        for product, size in products:
            product(inputs[size])
        times.append(time.thread_time() - begin)
    return 1000 * min(times)


class _Codes(NamedTuple):
    """As much of the compiled step's desk as a product reads."""

    codes: np.ndarray
    wide_codes: np.ndarray
    measures: np.ndarray


@compiled
def _multiply(team, weight, count, desk, out):  # type: ignore[no-untyped-def]
    multiply(team, 0, weight, 0, count, desk, out)


class _Compiled:
    """The compiled step's product alone, by one worker; the rounding of x to codes is not in it."""

    def __init__(self, weight: Weight) -> None:
        self._weight: Packed = packed([weight], [None])

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        rows, size = x.shape
        groups = (-(-rows // BLOCK), size // GROUP, BLOCK)
        desk = _Codes(
            np.ones((*groups, GROUP), np.int8),
            np.ones((*groups, GROUP), np.int16),
            np.ones((*groups, 2), np.float32),
        )
        out = np.zeros((rows, self._weight.bias.shape[1]), np.float32)
        _multiply(alone(1), self._weight, rows, desk, out)
        return torch.from_numpy(out)


def _compiled_four(outputs: int, inputs: int) -> Linear:
    return _Compiled(_four_bit(outputs, inputs))


def _compiled_eight(outputs: int, inputs: int) -> Linear:
    return _Compiled(Dense(torch.randn(outputs, inputs)))


def _four_bit(outputs: int, inputs: int) -> FourBit:
    codes = torch.randint(0, 256, (outputs, inputs // 2), dtype=torch.uint8)
    scale, low = torch.rand(2, outputs, inputs // GROUP)
    return FourBit(codes, scale, -low)


def _int4(outputs: int, inputs: int) -> Linear:
    return Int4(_four_bit(outputs, inputs))


def _int8(outputs: int, inputs: int) -> Linear:
    return Int8(*per_row(torch.randn(outputs, inputs)))


def _prepacked(outputs: int, inputs: int) -> Linear:
    return Prepacked(torch.randn(outputs, inputs).bfloat16())


def _bf16(outputs: int, inputs: int) -> Linear:
    return Plain(torch.randn(outputs, inputs).bfloat16())


if __name__ == "__main__":
    main()
