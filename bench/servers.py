"""Servers: a peer as a running process on a free port, for as long as it is measured.

Its output goes to a temporary file; it is ready when its health route says 200; it is always ended,
children included. It refuses to know what is measured.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO

import psutil  # type: ignore[import-untyped]

from bench.client import exchange, get
from bench.peers import Peer

#: vLLM compiles for minutes at its first start.
_READY_LIMIT_S = 420.0
_LOOK_S = 0.02
_STOP_LIMIT_S = 15.0


class NoServer(Exception):
    """It did not start; the message holds its last words."""


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


# Private


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
