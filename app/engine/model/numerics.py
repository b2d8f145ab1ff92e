"""Which device, which number formats, and from how many rows on which operator.

Chosen once at start from the settings and the machine. float32 is the reference: every product
plain, nothing rounded, used by the tests that demand equality. It refuses to know models.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import torch

from app.errors import StartupError

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class Numerics:
    """``compute``: what products take and give. ``residual``: the running sum between layers.

    ``kv``: keys, values and attention. ``compiled``: the forward pass is our own machine code.
    ``packed``: torch's packed bf16 operators; ``int4_rows`` and ``int8_rows``: up to how many rows
    those beat the product for many rows.
    ``apart_rows``: up to how many single rows a step multiplies apart from prompts' pieces; with
    ``own_pass`` they take a forward pass of their own (batch.batches).
    """

    device: torch.device
    compute: torch.dtype
    residual: torch.dtype
    kv: torch.dtype
    compiled: bool = False
    packed: bool = False
    int4_rows: int = 0
    int8_rows: int = 0
    apart_rows: int = 0
    own_pass: bool = False

    @property
    def label(self) -> str:
        """For people: what a status page says products are computed in."""
        return "int8" if self.compiled else str(self.compute).removeprefix("torch.")


def choose(device: str, dtype: str) -> Numerics:
    """The numerics for the settings' ``device`` and ``dtype``, each "auto" or a name.

    Raises StartupError when the device is not there or the dtype has no such name.
    """
    if dtype != "auto" and dtype not in _DTYPES:
        raise StartupError(f"dtype {dtype!r} is none of auto, {', '.join(_DTYPES)}")
    where = _device(device)
    if where.type != "cpu":
        # MPS has no fast bf16 everywhere; fp16 it has.
        fast = torch.float16 if where.type == "mps" else torch.bfloat16
        kind = fast if dtype == "auto" else _DTYPES[dtype]
        # Single rows always go apart: on CUDA that pass is a graph, which costs little to launch.
        return Numerics(where, kind, residual=kind, kv=kind, apart_rows=2**30, own_pass=True)
    if dtype == "auto":
        return _cpu()
    kind = _DTYPES[dtype]
    if kind is torch.bfloat16 and _has_bf16():
        return packed()
    return Numerics(where, kind, residual=torch.float32, kv=torch.float32)


def compiled() -> Numerics:
    """Our own machine code: 8-bit activations, float32 sums, keys and values in float16."""
    f32 = torch.float32
    return Numerics(torch.device("cpu"), f32, residual=f32, kv=torch.float16, compiled=True)


def of_torch() -> Numerics:
    """The fastest on a CPU whose results are right, of what torch brings."""
    f32 = torch.float32
    return packed() if _has_bf16() else Numerics(torch.device("cpu"), f32, residual=f32, kv=f32)


def packed() -> Numerics:
    """torch's packed bf16 operators: up to 6 rows the 4-bit one wins, above the bf16 one."""
    cpu, bf16 = torch.device("cpu"), torch.bfloat16
    return Numerics(cpu, bf16, torch.float32, kv=bf16, packed=True, int4_rows=6, int8_rows=2, apart_rows=6)


# Private


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise StartupError(f"device {name!r} cannot be used: {str(error).splitlines()[0]}") from None
    return device


def _cpu() -> Numerics:
    """Our own code wherever it can be compiled: several times faster than any of torch's without bf16
    instructions, twice as fast with them (bench/RESULTS.md).
    """
    if torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512") and find_spec("numba") is not None:
        return compiled()
    return of_torch()


def _has_bf16() -> bool:
    """Whether the processor multiplies bf16 numbers at once."""
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
