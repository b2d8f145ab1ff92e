"""OpenVINO GenAI: a library without a server, run in a process of its own and read back here.

Its continuous batching reads the default GGUF as it is. Nothing of a server is in its numbers: no
sockets, no HTTP, no events. OPENVINO_PYTHON= names the Python of another environment that has
``openvino-genai``. It refuses to know the other peers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from app.engine.weights import packaged_file
from bench.dialects import Stream
from bench.formulas import cell
from bench.result import PeerResult

NAME = "OpenVINO GenAI, in process"
_LIMIT_S = 3600.0


def measure(kinds: list[str], users: list[int], rounds: int, tokens: int) -> PeerResult | str:
    """All cells; or, in words, why there are none."""
    python = os.environ.get("OPENVINO_PYTHON") or sys.executable
    ask = [python, "-c", "import openvino_genai as g; print(g.__version__)"]
    try:
        found = subprocess.run(ask, capture_output=True, text=True, timeout=120)
    except OSError as error:
        return f"OPENVINO_PYTHON does not run: {error.strerror}"
    if found.returncode:
        return "the package openvino-genai is not installed, and OPENVINO_PYTHON names no Python that has it"
    task = {"model": str(packaged_file()), "kinds": kinds, "users": users, "rounds": rounds, "tokens": tokens}
    spawned_ns = time.monotonic_ns()
    command = [python, "-m", "bench.openvino_child", json.dumps(task)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S)
    if run.returncode:
        return "it failed: " + " ".join(run.stderr.split())[-200:]
    told = json.loads(run.stdout.splitlines()[-1])
    result = PeerResult(
        NAME, "Q4_1", in_process=True, note=f"openvino-genai {found.stdout.split('-')[0].strip()}"
    )
    result.cold_start_s = (told["first_text_ns"] - spawned_ns) / 1e9
    result.memory_mb = told["peak_bytes"] / 1e6
    for measured in told["cells"]:
        streams = [
            Stream(began, arrivals[-1], tuple(arrivals), n) for began, arrivals, n in measured["answers"]
        ]
        result.cells.append(cell(measured["kind"], measured["users"], streams))
    return result
