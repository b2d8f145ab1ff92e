"""What the processor that code is compiled for can do beyond AVX2.

Asked where instructions are chosen and where weights are laid out for them. As the compiler does, it
believes NUMBA_CPU_FEATURES, so that the code for another processor can be had. It refuses to know products.
"""

from __future__ import annotations

import llvmlite.binding as llvm
import numba

_FEATURES = frozenset((numba.config.CPU_FEATURES or llvm.get_host_cpu_features().flatten()).split(","))
#: An instruction that multiplies four bytes by four others and adds all to an int32 (VNNI).
DOTS = {"+avx512vnni", "+avx512vl"} <= _FEATURES or "+avxvnni" in _FEATURES
#: Twice as many registers for vectors: 32.
MANY_REGISTERS = "+avx512vl" in _FEATURES
