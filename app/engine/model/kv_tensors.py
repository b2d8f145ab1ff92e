"""The keys and values of all slots: contiguous per slot, committed to memory on use.

Layout [layer, key or value, slot, head, position, head_dim]; inside of a block of ``TOGETHER`` positions
the compiled pass has its own order for keys. On a CPU the whole is one anonymous mapping without
reserve: a page costs memory when it is first written, and ``release`` gives the pages behind a sequence
back to the system, so memory held follows tokens held although every slot has room for the full context.

Why not paged blocks with a gather: attention over 640 tokens in 30 layers took 8.4 ms of CPU time
for one slot and 52 for eight neighbouring ones, which are one strided batch; with their blocks
gathered first 9.5 and 94 (AVX2, one thread). On other devices it is a plain tensor, taken at once.
"""

from __future__ import annotations

import functools
import mmap
import sys

import numpy as np
import torch

from app.errors import StartupError

#: Lets a mapping be larger than the memory there is. Python 3.11 does not name it; Linux's value.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
#: Positions of a block: they are copied and kept together.
TOGETHER = 32


class KVTensors:
    """Room for ``slots`` sequences of ``context`` tokens each."""

    def __init__(
        self,
        *,
        layers: int,
        slots: int,
        kv_heads: int,
        context: int,
        head_dim: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        shape = (layers, 2, slots, kv_heads, context, head_dim)
        self._memory: mmap.mmap | None = None
        if device.type == "cpu" and sys.platform != "win32":
            self._memory, self._all = _on_demand(shape, dtype)
        else:
            self._all = torch.zeros(shape, dtype=dtype, device=device)
        self._layers = list(self._all.unbind(0))
        self.bytes_per_token = layers * 2 * kv_heads * head_dim * dtype.itemsize

    def layer(self, index: int) -> torch.Tensor:
        """[2, slots, heads, context, head_dim]; keys first."""
        return self._layers[index]

    @functools.cached_property
    def array(self) -> np.ndarray:
        """All layers' float16 memory on a CPU as its bits, [layers, 2, slots, heads, context, head_dim]."""
        return self._all.view(torch.int16).numpy()

    def copy(self, src: int, dst: int, num_tokens: int) -> None:
        """Copy the first ``num_tokens`` positions of slot ``src`` to ``dst``, and what shares their block."""
        end = _up(num_tokens, TOGETHER)
        self._all[:, :, dst, :, :end] = self._all[:, :, src, :, :end]

    def release(self, slot: int, keep_tokens: int) -> None:
        """Give the whole pages that hold only positions from ``keep_tokens`` on back to the system.

        What shares their block with the last that is kept, is kept as well.
        """
        if self._memory is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        layers, two, slots, heads, context, dim = self._all.shape
        row, keep = dim * self._all.element_size(), _up(keep_tokens, TOGETHER)
        for pair in range(layers * two):
            for head in range(heads):
                lane = ((pair * slots + slot) * heads + head) * context * row
                first = _up(lane + keep * row, mmap.PAGESIZE)
                end = (lane + context * row) // mmap.PAGESIZE * mmap.PAGESIZE
                if end > first:
                    self._memory.madvise(mmap.MADV_DONTNEED, first, end - first)


# Private


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def _on_demand(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[mmap.mmap, torch.Tensor]:
    """A zeroed tensor whose pages take memory when they are written."""
    count = 1
    for size in shape:
        count *= size
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
    try:
        memory = mmap.mmap(-1, count * dtype.itemsize, flags=flags)
    except (OSError, OverflowError, ValueError):
        raise StartupError(
            f"no address space for {count * dtype.itemsize / 2**30:.0f} GiB of KV slots: "
            "lower FIRSTWORD_CONTEXT_TOKENS or FIRSTWORD_MAX_BATCH"
        ) from None
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        # A huge page holds 512 small ones: the first token of a slot would commit 2 MiB a lane.
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory, torch.frombuffer(memory, dtype=dtype, count=count).view(shape)
