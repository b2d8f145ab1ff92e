"""Addresses: under which addresses this machine can be reached from its local network.

Asked of the operating system, not of the network: nothing is sent. It may change at any time (another
Wi-Fi), so it is asked anew whenever it is needed. It refuses to know ports and pages.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct

#: Linux: the address of an interface.
_SIOCGIFADDR = 0x8915
#: "Connecting" a datagram socket sends nothing, but makes the system choose the address to send from.
_ELSEWHERE = ("192.0.2.1", "10.255.255.255", "172.31.255.255", "192.168.255.255")


def lan_addresses() -> list[str]:
    """IPv4 addresses of this machine that others may reach, the likeliest first."""
    found: list[str] = []
    for address in (*_chosen(), *_of_interfaces(), *_of_name()):
        if address not in found and _reachable(address):
            found.append(address)
    return found


def local_only(host: str) -> bool:
    """Whether a server that listens on ``host`` can be reached from its own machine alone."""
    return host.startswith("127.") or host in ("localhost", "::1")


def mdns_name() -> str | None:
    """The name that most systems answer to on their network; None when it is no host name."""
    name = socket.gethostname().split(".")[0].lower()
    return f"{name}.local" if name and name != "localhost" and name.replace("-", "").isalnum() else None


# Private


def _reachable(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    return not (ip.is_loopback or ip.is_unspecified or ip.is_link_local or ip.is_multicast)


def _chosen() -> list[str]:
    found = []
    for elsewhere in _ELSEWHERE:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.connect((elsewhere, 9))
            found.append(str(sock.getsockname()[0]))
    return found


def _of_interfaces() -> list[str]:
    try:
        import fcntl
    except ImportError:
        return []
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _, name in socket.if_nameindex():
            # Other systems number this call differently and refuse it.
            with contextlib.suppress(OSError):
                request = struct.pack("256s", name.encode()[:15])
                answer = fcntl.ioctl(sock.fileno(), _SIOCGIFADDR, request)
                found.append(socket.inet_ntoa(answer[20:24]))
    return found


def _of_name() -> list[str]:
    with contextlib.suppress(OSError):
        infos = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        return [str(info[4][0]) for info in infos]
    return []
