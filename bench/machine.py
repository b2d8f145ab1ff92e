"""Machine: what the numbers were measured on, in words that name no host and no path.

It refuses to know results.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from dataclasses import dataclass
from pathlib import Path

_PACKAGES = ("torch", "transformers", "uvicorn", "starlette", "msgspec")
#: Instructions that decide which of the engine's operators can run.
_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16")


@dataclass(frozen=True, slots=True)
class Machine:
    """One line each; ``load`` is the system's own one-minute average as the run began."""

    date: str
    cpu: str
    cores: int
    flags: str
    system: str
    python: str
    packages: str
    load: float


def machine() -> Machine:
    """This machine, now."""
    model, flags = _cpu()
    return Machine(
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        cpu=model,
        cores=os.cpu_count() or 1,
        flags=", ".join(flag for flag in _FLAGS if flag in flags) or "none of those that matter",
        system=platform.system(),
        python=platform.python_version(),
        packages=", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES),
        load=round(os.getloadavg()[0], 1),
    )


# Private


def _cpu() -> tuple[str, set[str]]:
    """Model's name and instruction flags, where the kernel tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine(), set()
    found = {line.split(":")[0].strip(): line.split(":", 1)[1].strip() for line in lines if ":" in line}
    return found.get("model name", platform.machine()), set(found.get("flags", "").split())
