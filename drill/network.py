"""Network: a line to a place of its own, on which packets really come late, get lost, or come no more.

Two TUN devices joined by this program: packets that go into one come out of the other, as late, lossy
and narrow as the line is told to be. One stands in our own network namespace, one in a second namespace
that has nothing but this line, where a client is put. TCP does the rest, as on bad Wi-Fi. Nothing
here can reach another machine. It needs Linux, and the right to make namespaces.

It refuses to know what is sent. Longer than most, since one end of a line is of no use without the other.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import math
import os
import random
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from drill.case import NotPlayed

#: Addresses for documentation (RFC 5737): nobody has them, least of all in a namespace of ours.
HERE, THERE = "192.0.2.1", "192.0.2.2"
_INSIDE = "FIRSTWORD_DRILL_INSIDE"
#: From linux/if_tun.h: make a device; packets as they are, without a header of the driver's.
_TUNSETIFF, _TUN_PLAIN = 0x400454CA, 0x1001
_MTU = 1500
#: What a router keeps for a narrow line, in seconds of it and at least in bytes; the rest is dropped.
_QUEUE_S, _QUEUE_BYTES = 0.5, 4 * _MTU


def enter() -> bool:
    """Run this program again in a network namespace of its own; False where that cannot be."""
    if os.environ.get(_INSIDE):
        return True
    # Who is root needs no user namespace, in which some of its rights would be lost.
    command = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    try:
        subprocess.run([*command, "ip", "link", "set", "lo", "up"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    again = [sys.executable, *sys.orig_argv[1:]]
    os.environ[_INSIDE] = "yes"
    os.execvp("unshare", [*command, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *again])


@dataclass(frozen=True, slots=True)
class Quality:
    """Of both directions; ``lost`` is a share of the packets, ``kbit_s`` 0 is as fast as can be."""

    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    lost: float = 0.0
    kbit_s: float = 0.0


GOOD = Quality()
#: Nothing gets through, and nobody is told.
CUT = Quality(lost=1.0)


class Passed(NamedTuple):
    """A packet that arrived: when it came in and went out (loop's seconds), bytes, ports (from, to)."""

    in_s: float
    out_s: float
    size: int
    ports: tuple[int, int]


class Line:
    """The line; ``quality`` may be changed at any time."""

    def __init__(self, here: int, there: int, holder_pid: int) -> None:
        self.quality = GOOD
        self.there = _Way(self, here, there)
        self.back = _Way(self, there, here)
        self._far_namespace = f"/proc/{holder_pid}/ns/net"

    def socket(self) -> socket.socket:
        """A socket at the far end, not connected yet."""
        with _in_namespace(self._far_namespace):
            sock = socket.socket()
        sock.setblocking(False)
        return sock

    def program(self, program: str, folder: Path) -> str:
        """The path of a program that is ``program`` at the far end."""
        path = folder / f"far-{Path(program).name}"
        path.write_text(f'#!/bin/sh\nexec nsenter --net={self._far_namespace} {program} "$@"\n')
        path.chmod(0o755)
        return str(path)


@asynccontextmanager
async def line() -> AsyncIterator[Line]:
    """A good line from HERE to THERE; both are gone when the block is left. Raises NotPlayed."""
    if not os.environ.get(_INSIDE):
        raise NotPlayed("no network namespace can be had on this machine")
    # A namespace lives as long as a process in it.
    holder = await asyncio.create_subprocess_exec(
        "unshare", "--net", "sh", "-c", "echo; exec sleep infinity", stdout=asyncio.subprocess.PIPE
    )
    here, there = _tun("here"), _tun("there")
    try:
        assert holder.stdout is not None
        await holder.stdout.readline()
        _ip(f"link set there netns {holder.pid}")
        _raise_device("here", HERE, THERE, [])
        _raise_device("there", THERE, HERE, ["nsenter", f"--net=/proc/{holder.pid}/ns/net"])
        joined = Line(here, there, holder.pid)
        with joined.there, joined.back:
            yield joined
    finally:
        os.close(here)
        os.close(there)
        holder.kill()
        await holder.wait()


@asynccontextmanager
async def way_out() -> AsyncIterator[list[bytes]]:
    """A default route that leads nowhere; the packets that wanted to leave. Raises NotPlayed."""
    if not os.environ.get(_INSIDE):
        raise NotPlayed("no network namespace can be had on this machine")
    device, packets = _tun("out"), list[bytes]()
    loop = asyncio.get_running_loop()
    os.set_blocking(device, False)
    loop.add_reader(device, lambda: packets.append(os.read(device, _MTU)))
    try:
        _raise_device("out", HERE, THERE, [])
        _ip("route add default dev out")
        yield packets
    finally:
        loop.remove_reader(device)
        os.close(device)


# Private


class _Way:
    """One direction: takes packets as they come and hands each on when its time has come, in order."""

    def __init__(self, line: Line, source: int, target: int) -> None:
        self.passed: list[Passed] = []
        self.num_lost = 0
        self._line, self._source, self._target = line, source, target
        self._loop = asyncio.get_running_loop()
        self._chance = random.Random(0)
        self._waiting_bytes = 0
        #: When the line has sent what it holds, and when the last packet arrives.
        self._sent_s = self._last_s = 0.0

    def __enter__(self) -> None:
        os.set_blocking(self._source, False)
        self._loop.add_reader(self._source, self._take)

    def __exit__(self, *_: object) -> None:
        self._loop.remove_reader(self._source)

    def _take(self) -> None:
        packet = os.read(self._source, _MTU)
        quality = self._line.quality
        bytes_s = quality.kbit_s * 1000 / 8
        room = max(_QUEUE_S * bytes_s, _QUEUE_BYTES) if bytes_s else math.inf
        if self._chance.random() < quality.lost or self._waiting_bytes + len(packet) > room:
            self.num_lost += 1
            return
        self._waiting_bytes += len(packet)
        narrow_s = len(packet) / bytes_s if bytes_s else 0.0
        self._sent_s = max(self._loop.time(), self._sent_s) + narrow_s
        late_s = max(0.0, quality.delay_ms + quality.jitter_ms * self._chance.uniform(-1, 1)) / 1e3
        self._last_s = max(self._sent_s + late_s, self._last_s)
        self._loop.call_at(self._last_s, self._hand_on, self._loop.time(), packet)

    def _hand_on(self, came_s: float, packet: bytes) -> None:
        self._waiting_bytes -= len(packet)
        if self._line.quality == CUT:
            return
        # TCP over IPv4 without options: the two ports stand behind twenty bytes.
        ports = struct.unpack_from("!HH", packet, 20)
        self.passed.append(Passed(came_s, self._loop.time(), len(packet), ports))
        with suppress(OSError):  # The line may be taken down meanwhile.
            os.write(self._target, packet)


def _tun(name: str) -> int:
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TUN_PLAIN))
    return device


def _raise_device(name: str, own: str, other: str, prefix: list[str]) -> None:
    # No IPv6: its own announcements would count as packets of somebody's.
    _ip(f"link set {name} addrgenmode none", prefix)
    _ip(f"addr add {own} peer {other} dev {name}", prefix)
    _ip(f"link set {name} up mtu {_MTU}", prefix)
    _ip("link set lo up", prefix)


def _ip(words: str, prefix: list[str] | None = None) -> None:
    subprocess.run([*(prefix or []), "ip", *words.split()], check=True, capture_output=True)


@contextmanager
def _in_namespace(path: str) -> Iterator[None]:
    """This thread in another namespace; nothing may be awaited meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net") as own, open(path) as other:
        if libc.setns(other.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns")
        try:
            yield
        finally:
            libc.setns(own.fileno(), 0)
