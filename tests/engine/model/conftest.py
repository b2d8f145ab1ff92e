"""Leaves out, and says so, the tests of the compiled pass where it cannot be: no compiler, or no AVX2."""

from importlib.util import find_spec

import torch

_CAN_COMPILE = find_spec("numba") is not None and torch.backends.cpu.get_cpu_capability() in (
    "AVX2",
    "AVX512",
)
_OF_THE_COMPILED_PASS = ["test_compiled.py", "test_crew.py", "test_products.py", "test_rounding.py"]
collect_ignore = [] if _CAN_COMPILE else _OF_THE_COMPILED_PASS


def pytest_report_header() -> list[str]:
    return [] if _CAN_COMPILE else [f"not run, for want of numba or AVX2: {', '.join(_OF_THE_COMPILED_PASS)}"]
