"""About: ``GET /api/about`` says which Firstword this is, what model answers and on what machine.

A number without the machine it was measured on says nothing, so recordings and reports carry this.
Nothing by which the machine could be found is told: no host name, no user, no path, no address.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from functools import cache
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.generation import Engine, ModelInfo
from app.replay.recording import Hardware

_SYSCTL_S = 2.0


class About(msgspec.Struct, frozen=True):
    """The answer; ``model`` without its file's path."""

    version: str
    model: ModelInfo
    hardware: Hardware


@cache
def version() -> str:
    """This installation's version, like 0.1.0."""
    return importlib.metadata.version("firstword")


@cache
def hardware() -> Hardware:
    """The machine that the web process runs on; the engine is its child."""
    return Hardware(
        cpu=_cpu()[:200],
        cores=os.cpu_count() or 0,
        memory_gb=_memory_gb(),
        system=f"{platform.system()} {platform.machine()}".strip()[:200],
    )


def routes(engine: Engine) -> list[BaseRoute]:
    """The one route."""

    async def about(request: Request) -> Response:
        model = engine.model
        # A model that was given as a folder has its path as its name.
        shown = msgspec.structs.replace(model, name=Path(model.name).name) if _is_path(model.name) else model
        body = msgspec.json.encode(About(version(), shown, hardware()))
        return Response(body, 200, {"cache-control": "no-store"}, "application/json")

    return [Route("/api/about", about, methods=["GET"])]


# Private


def _is_path(name: str) -> bool:
    return name.startswith(("/", "~", ".")) or "\\" in name


def _cpu() -> str:
    """The processor's name as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    if platform.system() == "Darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        try:
            told = subprocess.run(command, capture_output=True, text=True, timeout=_SYSCTL_S, check=True)
            return told.stdout.strip()
        except (OSError, subprocess.SubprocessError):
            pass
    return platform.processor() or platform.machine()


def _memory_gb() -> float:
    """Physical memory in units of 10^9 bytes; 0 where the system does not tell."""
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1)
    except (OSError, ValueError):
        return 0.0
