"""Times the matrix products of one step, operator by operator: `python -m bench.operators`.

The figures behind the crossovers in app/engine/model/numerics.py. It multiplies with random
weights of the default model's shapes, and takes the fastest of several rounds of CPU time on one
thread, which neighbours on the machine disturb least.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import torch

from app.engine.model.linear import Half, Int4, Int8, Linear, Plain, Prepacked, per_row
from app.engine.model.tensors import GROUP, FourBit

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
        makers = {"int4": _int4, "half": _half, "prepacked": _prepacked, "bf16": _bf16}
        _table("all layers", layers, _LAYERS / _HELD, makers)
        _table("head", [_HEAD], 1.0, {"int8": _int8, "half": _half, "prepacked": _prepacked})


# Private


def _table(title: str, shapes: list[tuple[int, int]], scale: float, makers: Mapping[str, Maker]) -> None:
    print(f"{title}: CPU ms on one thread, {torch.backends.cpu.get_cpu_capability()}")
    print("operator".ljust(12), *(f"{rows:>8}" for rows in _ROWS))
    for name, make in makers.items():
        products = [(make(*shape), shape[1]) for shape in shapes]
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


def _int4(outputs: int, inputs: int) -> Linear:
    codes = torch.randint(0, 256, (outputs, inputs // 2), dtype=torch.uint8)
    scale, low = torch.rand(2, outputs, inputs // GROUP)
    return Int4(FourBit(codes, scale, -low))


def _int8(outputs: int, inputs: int) -> Linear:
    return Int8(*per_row(torch.randn(outputs, inputs)))


def _half(outputs: int, inputs: int) -> Linear:
    return Half(torch.randn(outputs, inputs))


def _prepacked(outputs: int, inputs: int) -> Linear:
    return Prepacked(torch.randn(outputs, inputs))


def _bf16(outputs: int, inputs: int) -> Linear:
    return Plain(torch.randn(outputs, inputs).bfloat16())


if __name__ == "__main__":
    main()
