"""Frames: WebSocket bytes, sound and broken, and what the websockets library itself says of them.

The judge is the library's protocol core without any socket: fed the same bytes it names the close
code that is due. It refuses to know our server.
"""

from __future__ import annotations

import socket
import struct

from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

MAX_BYTES = 65_536
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)


def frame(opcode: int, payload: bytes, *, fin: bool = True, rsv: int = 0, masked: bool = True) -> bytes:
    """One frame, right or wrong; its mask is zeros, which leave the payload as it is."""
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    mask = 0x80 if masked else 0
    if len(payload) < 126:
        head = bytes([first, mask | len(payload)])
    elif len(payload) < 65_536:
        head = bytes([first, mask | 126]) + struct.pack("!H", len(payload))
    else:
        head = bytes([first, mask | 127]) + struct.pack("!Q", len(payload))
    return head + (b"\0\0\0\0" if masked else b"") + payload


_payloads = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=60).map(str.encode),
    st.sampled_from([b"", b"{}", b'{"type":"ping"}', b"[" * 10_000, b"\x03\xe8", b"\x03\xed", b"\x00\x01"]),
)
_wild = st.builds(
    frame,
    st.integers(0, 15),
    _payloads,
    fin=st.booleans(),
    rsv=st.sampled_from([0, 0, 0, 0, 1, 2, 4, 7]),
    masked=st.sampled_from([True, True, True, False]),
)
_sound = st.builds(frame, st.sampled_from([1, 1, 9, 10]), _payloads)


@st.composite
def attacks(draw: st.DrawFn) -> bytes:
    """What a hostile client sends after a proper handshake."""
    data = b"".join(draw(st.lists(st.one_of(_wild, _sound), min_size=1, max_size=12)))
    if draw(st.booleans()):
        place = draw(st.integers(0, len(data) - 1))
        data = data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]
    return data + draw(st.sampled_from([b"", b"", b"\xff" * 40, b"\x81\xff\x7f"]))


def due(data: bytes) -> set[int]:
    """The codes with which a server may close after ``data``; none: it has no reason to.

    The core leaves it to its user to read texts, so that is done here. Where a broken text and
    another fault come in one packet either may be met first.
    """
    codes: set[int] = set()
    core = ServerProtocol(state=OPEN, max_size=MAX_BYTES)
    core.receive_data(data)
    text: bytes | None = None
    for event in core.events_received():
        if not isinstance(event, Frame) or event.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            continue
        if event.opcode is not Opcode.CONT:
            text = b"" if event.opcode is Opcode.TEXT else None
        if text is not None:
            text += event.data
            if event.fin and text.decode(errors="replace").encode() != text:
                codes.add(1007)
    return codes | ({core.close_sent.code} if core.close_sent is not None else set())


def close_code(answer: bytes) -> int | None:
    """The code of the close frame in what a server sent after its handshake."""
    core = ClientProtocol(parse_uri("ws://localhost/ws"), state=OPEN)
    core.receive_data(answer)
    for event in core.events_received():
        if isinstance(event, Frame) and event.opcode is Opcode.CLOSE:
            # An empty close frame is read as "no status".
            return struct.unpack("!H", event.data[:2])[0] if event.data else 1005
    return None


def opened(port: int) -> socket.socket:
    """A WebSocket after its handshake, as a bare connection."""
    sock = socket.create_connection(("127.0.0.1", port), timeout=20)
    sock.sendall(HANDSHAKE)
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += sock.recv(1)
    assert head.startswith(b"HTTP/1.1 101 "), head
    return sock
