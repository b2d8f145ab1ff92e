"""Peers: the servers that are compared, how each is called, and why one may be absent.

It refuses to know how processes are started and what is measured.

    LLAMA_SERVER=       llama.cpp's server, when it is not on PATH
    LLAMA_MODEL=        its GGUF; else a Q8_0 made by the llama-quantize beside it, else the default
    TRANSFORMERS_CLI=   the `transformers` command of another environment (extra: bench)
    VLLM_SERVER=        the `vllm` command of another environment, when it is not on PATH
    VLLM_DTYPE=         what it computes in; else float32, or bfloat16 where the processor has it
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from app.engine.weights import packaged_file
from bench.dialects import Style
from bench.model_files import transformers_folder

_LLAMA = "llama.cpp"
_TRANSFORMERS = "transformers serve"
_BATCHING = "transformers serve, continuous batching"
_VLLM = "vLLM on CPU"


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to serve the default model."""

    name: str
    style: Style
    model: str
    health: str
    command: Callable[[int], list[str]]
    #: It answers one request at a time, so that crowds only wait: fewer users are tried.
    one_at_a_time: bool = False
    #: It speaks Firstword's own wire too, with a time stamp in each delta.
    own_wire: bool = False
    weights: str = "Q4_1"


@dataclass(frozen=True, slots=True)
class Absent:
    """A peer that cannot be had here, and why."""

    name: str
    reason: str


def peers(work: Path, engine: str, starts: Sequence[str] = ("",)) -> list[Peer | Absent]:
    """Servers whose name begins with one of ``starts``, in the order of measuring.

    ``work`` keeps converted models; only those of wanted servers are made.
    """
    makers: list[tuple[str, Callable[[], Peer | Absent]]] = [
        ("firstword", lambda: _firstword(engine)),
        (_LLAMA, lambda: _llama(work)),
        (_TRANSFORMERS, lambda: _transformers(work, batching=False)),
        (_BATCHING, lambda: _transformers(work, batching=True)),
        (_VLLM, lambda: _vllm(work)),
    ]
    found: list[Peer | Absent] = []
    for name, make in makers:
        if not any(name.startswith(start) for start in starts):
            continue
        try:
            found.append(make())
        except subprocess.CalledProcessError as error:
            last = " ".join((error.stderr or b"").decode(errors="replace").split())[-200:]
            found.append(Absent(name, f"its model could not be made (code {error.returncode}): {last}"))
    return found


# Private


def _firstword(engine: str) -> Peer:
    def command(port: int) -> list[str]:
        return [sys.executable, "-m", "app", "serve", "--port", str(port), "--engine", engine]

    name, weights = ("firstword", "Q4_1") if engine == "local" else (f"firstword ({engine})", "none")
    return Peer(name, "ignore_eos", "default", "/readyz", command, own_wire=True, weights=weights)


def _llama(work: Path) -> Peer | Absent:
    binary = os.environ.get("LLAMA_SERVER") or shutil.which("llama-server")
    if not binary or not Path(binary).exists():
        return Absent(_LLAMA, "llama-server is not on PATH and LLAMA_SERVER names none")
    model = Path(os.environ["LLAMA_MODEL"]) if "LLAMA_MODEL" in os.environ else _q8_0(Path(binary), work)

    def command(port: int) -> list[str]:
        slots, context = 16, 16 * 2048
        return [
            binary, "-m", str(model), "--host", "127.0.0.1", "--port", str(port), "-np", str(slots),
            "-c", str(context), "-t", str(os.cpu_count() or 1),
        ]  # fmt: skip

    weights = model.stem.rsplit(".", 1)[-1].rsplit("-", 1)[-1]
    return Peer(f"{_LLAMA} {weights}", "ignore_eos", "default", "/health", command, weights=weights)


def _q8_0(binary: Path, work: Path) -> Path:
    """The default model requantised, which is llama.cpp's fastest form of it; else as it is."""
    quantize = binary.with_name("llama-quantize")
    target = work / "SmolLM2-135M-Instruct.Q8_0.gguf"
    if not quantize.exists():
        return packaged_file()
    if not target.exists():
        made = target.with_suffix(".part")
        options = [str(quantize), "--allow-requantize", str(packaged_file()), str(made), "Q8_0"]
        subprocess.run(options, check=True, capture_output=True)
        made.rename(target)
    return target


def _transformers(work: Path, batching: bool) -> Peer | Absent:
    name = _BATCHING if batching else _TRANSFORMERS
    beside = Path(sys.executable).with_name("transformers")
    cli = os.environ.get("TRANSFORMERS_CLI") or (str(beside) if beside.exists() else None)
    if cli is None or not Path(cli).exists():
        return Absent(name, "no `transformers` command here and TRANSFORMERS_CLI names none")
    try:
        imports = [_interpreter(cli), "-c", "import fastapi, uvicorn, openai"]
        missing = subprocess.run(imports, capture_output=True).returncode
    except OSError as error:
        return Absent(name, f"its interpreter does not run: {error.strerror}")
    if missing:
        return Absent(name, "transformers is there without its extra `serving` (extra: bench)")
    folder = str(transformers_folder(work, packaged_file(), _interpreter(cli)))

    def command(port: int) -> list[str]:
        serve = [cli, "serve", folder, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
        return [*serve, "--continuous-batching"] if batching else serve

    return Peer(name, "transformers", folder, "/health", command, one_at_a_time=not batching, weights="fp32")


def _vllm(work: Path) -> Peer | Absent:
    cli = os.environ.get("VLLM_SERVER") or shutil.which("vllm")
    if cli is None or not Path(cli).exists():
        return Absent(_VLLM, "vllm is not on PATH and VLLM_SERVER names none")
    folder = str(transformers_folder(work, packaged_file(), _interpreter(cli)))
    dtype = os.environ.get("VLLM_DTYPE") or (
        "bfloat16" if torch.cpu._is_avx512_bf16_supported() else "float32"
    )

    def command(port: int) -> list[str]:
        serve = [cli, "serve", folder, "--host", "127.0.0.1", "--port", str(port), "--dtype", dtype]
        limits = ["--max-model-len", "2048", "--max-num-seqs", "16", "--no-enable-prefix-caching"]
        return [
            "env",
            "VLLM_CPU_KVCACHE_SPACE=4",
            # By itself it leaves one processor to its server, and of two computes on one: a third slower.
            f"VLLM_CPU_OMP_THREADS_BIND=0-{(os.cpu_count() or 1) - 1}",
            "VLLM_NO_USAGE_STATS=1",
            "HF_HUB_OFFLINE=1",
            *serve,
            *limits,
        ]

    return Peer(f"{_VLLM}, {dtype}", "ignore_eos", folder, "/health", command, weights=dtype)


def _interpreter(cli: str) -> str:
    """The Python that runs a console script: its first line names it."""
    with open(cli, "rb") as file:
        first = file.readline().decode(errors="replace").strip()
    return first.removeprefix("#!").split(" ")[0]
