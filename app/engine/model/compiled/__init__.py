"""The forward pass compiled for this processor: all layers in one call, products in small integers.

    packing ─▶ kernels (products, attention, arithmetic, crew; their intrinsics) ─▶ model

For x86 processors with AVX2; products take instructions made for small integers (VNNI) where there are
some. torch's packed operators take twice as long, several times as long without bf16 instructions
(bench/RESULTS.md). Compiling takes some twenty seconds, once for each version and machine. It refuses to
know sequences, chunks and sampling.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numba


def keep_machine_code(folder: Path) -> None:
    """Keep what is compiled in ``folder``; to be called before a module of this package is imported.

    The compiler notices a change of a function, but not of what the function calls. So there is a
    folder for each state of these files, and only the present one is kept.
    """
    sources = sorted(Path(__file__).parent.glob("*.py"))
    state = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    for other in folder.glob("*"):
        if other.name != state:
            shutil.rmtree(other, ignore_errors=True)
    numba.config.CACHE_DIR = str(folder / state)
