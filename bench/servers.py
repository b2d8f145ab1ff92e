"""Servers: the peers, how each is started on a free port, and why one may be absent.

A server runs as a child process with its output in a temporary file, is ready when its health
route says 200, and is always ended, children included. It refuses to know what is measured.

    LLAMA_SERVER=       llama.cpp's server, when it is not on PATH
    LLAMA_MODEL=        its GGUF; else a Q8_0 made by the llama-quantize beside it, else the default
    TRANSFORMERS_CLI=   the `transformers` command of another environment (extra: bench)
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil  # type: ignore[import-untyped]

from app.engine.weights import packaged_file
from bench.client import exchange, get
from bench.dialects import Style
from bench.model_files import transformers_folder

_READY_LIMIT_S = 180.0
_LOOK_S = 0.02
_STOP_LIMIT_S = 15.0
_LLAMA = "llama.cpp"
_TRANSFORMERS = "transformers serve"
_BATCHING = "transformers serve, continuous batching"


class NoServer(Exception):
    """It did not start; the message holds its last words."""


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


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers."""

    peer: Peer
    port: int
    pid: int
    spawned_ns: int

    def resident_mb(self) -> float:
        """Resident set of the process and its children, summed."""
        total = 0
        try:
            process = psutil.Process(self.pid)
            members = [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            return 0.0
        for member in members:
            try:
                total += member.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        return total / 1e6


def peers(work: Path, engine: str, starts: Sequence[str] = ("",)) -> list[Peer | Absent]:
    """Servers whose name begins with one of ``starts``, in the order of measuring.

    ``work`` keeps converted models; only those of wanted servers are made.
    """
    makers: list[tuple[str, Callable[[], Peer | Absent]]] = [
        ("firstword", lambda: _firstword(engine)),
        (_LLAMA, lambda: _llama(work)),
        (_TRANSFORMERS, lambda: _transformers(work, batching=False)),
        (_BATCHING, lambda: _transformers(work, batching=True)),
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


@asynccontextmanager
async def running(peer: Peer) -> AsyncIterator[Running]:
    """Start ``peer`` and wait until it is ready; end it in any case. Raises NoServer."""
    port = _free_port()
    with tempfile.TemporaryFile() as log:
        spawned_ns = time.monotonic_ns()
        process = _spawn(peer.command(port), log)
        try:
            server = Running(peer, port, process.pid, spawned_ns)
            try:
                await _until_ready(server, process)
            except NoServer as error:
                log.seek(0)
                last = log.read()[-600:].decode(errors="replace")
                raise NoServer(f"{peer.name}: {error}; it said: {last}") from None
            yield server
        finally:
            _end(process)


# Private: the peers


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


def _interpreter(cli: str) -> str:
    """The Python that runs a console script: its first line names it."""
    with open(cli, "rb") as file:
        first = file.readline().decode(errors="replace").strip()
    return first.removeprefix("#!").split(" ")[0]


# Private: processes


def _spawn(command: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    # A session of its own: some servers signal their whole process group when they end.
    return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    assert isinstance(port, int)
    return port


async def _until_ready(server: Running, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + _READY_LIMIT_S
    while time.monotonic() < deadline_s:
        if process.poll() is not None:
            raise NoServer(f"it ended with code {process.returncode} before it was ready")
        answer = await exchange(server.port, get(server.peer.health), limit_s=5.0)
        if answer.error is None:
            return
        await asyncio.sleep(_LOOK_S)
    raise NoServer(f"it was not ready after {_READY_LIMIT_S:g} s")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it has started."""
    try:
        family = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        family = []
    process.terminate()
    try:
        process.wait(_STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in family:
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue
