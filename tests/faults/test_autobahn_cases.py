"""F20: the groups of Autobahn|Testsuite against `/ws`, with the code that RFC 6455 asks for written down.

The suite itself needs Python 2 and judges echoes; `python -m drill --only F20` runs it where it is
installed. Groups 12 and 13 test compression, to which we agree never (F22).
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator

import pytest

from tests.faults.complaints import complaints
from tests.faults.frames import MAX_BYTES, close_code, frame, opened
from tests.server import Running, run_server_in_thread

TEXT, BINARY, CONT, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
SAID = b'{"type":"ping","t":7}'
STAYS = None

Cases = dict[str, tuple[list[bytes], int | None]]

FRAMING: Cases = {
    f"1 {name} of {size} bytes": ([frame(opcode, b"x" * size)], STAYS)
    for name, opcode in (("text", TEXT), ("binary", BINARY))
    for size in (0, 125, 126, 127, 128, 65_535, 65_536)
}
PINGS: Cases = {
    "2 ping without payload": ([frame(PING, b"")], STAYS),
    "2 ping of 125 bytes that are no text": ([frame(PING, b"\xfe" * 125)], STAYS),
    "2 ping of 126 bytes": ([frame(PING, b"x" * 126)], 1002),
    "2 pong that nobody asked for": ([frame(PONG, b""), frame(PONG, b"x"), frame(PING, b"y")], STAYS),
    "2 ten pings": ([frame(PING, bytes([n])) for n in range(10)], STAYS),
}
RESERVED: Cases = {
    **{f"3 reserved bits {rsv}": ([frame(TEXT, b"x", rsv=rsv)], 1002) for rsv in range(1, 8)},
    **{f"3 reserved bits on a ping {rsv}": ([frame(PING, b"x", rsv=rsv)], 1002) for rsv in (1, 4)},
    **{f"4 opcode {opcode}": ([frame(opcode, b"x")], 1002) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
}
FRAGMENTS: Cases = {
    "5 fragmented ping": ([frame(PING, b"x", fin=False), frame(CONT, b"y")], 1002),
    "5 fragmented pong": ([frame(PONG, b"x", fin=False), frame(CONT, b"y")], 1002),
    "5 text in two": ([frame(TEXT, b"x", fin=False), frame(CONT, b"y")], STAYS),
    "5 text in two around a ping": (
        [frame(TEXT, b"x", fin=False), frame(PING, b"p"), frame(CONT, b"y")],
        STAYS,
    ),
    "5 continuation of nothing": ([frame(CONT, b"x")], 1002),
    "5 continuation after the end": (
        [frame(TEXT, b"x", fin=False), frame(CONT, b"y"), frame(CONT, b"z")],
        1002,
    ),
    "5 text within a text": ([frame(TEXT, b"x", fin=False), frame(TEXT, b"y")], 1002),
    "5 binary within a text": ([frame(TEXT, b"x", fin=False), frame(BINARY, b"y")], 1002),
    "5 text in empty fragments": (
        [frame(TEXT, b"", fin=False), *[frame(CONT, b"", fin=False)] * 5, frame(CONT, b"")],
        STAYS,
    ),
    "5 unmasked": ([frame(TEXT, b"x", masked=False)], 1002),
}
_KOSME = "κόσμε".encode()
UTF8: Cases = {
    **{
        f"6 text {data.hex()}": ([frame(TEXT, data)], STAYS)
        for data in (_KOSME, b"\x00", b"\xc2\x80", b"\xe0\xa0\x80", b"\xf0\x90\x80\x80", b"\xed\x9f\xbf",
                     b"\xee\x80\x80", b"\xef\xbf\xbf", b"\xf4\x8f\xbf\xbf", "🏎️ नमस्ते".encode())
    },
    **{
        f"6 no text {data.hex()}": ([frame(TEXT, data)], 1007)
        for data in (b"\x80", b"\xbf", b"\xc3", b"\xe1\x80", b"\xf0\x90\x80", b"\xfe", b"\xff", b"\xc0\xaf",
                     b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xf8\x88\x80\x80\x80", b"\xed\xa0\x80",
                     b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", _KOSME + b"\xed\xa0\x80edited")
    },
    "6 a sign cut between fragments": ([frame(TEXT, _KOSME[:3], fin=False), frame(CONT, _KOSME[3:])], STAYS),
    "6 no text in the last fragment": ([frame(TEXT, _KOSME, fin=False), frame(CONT, b"\xf4\x90")], 1007),
}  # fmt: skip


def _close(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack("!H", code) + reason)


CLOSING: Cases = {
    "7 close without a code": ([frame(CLOSE, b"")], 1005),
    "7 close of one byte": ([frame(CLOSE, b"x")], 1002),
    "7 reason of 123 bytes": ([_close(1000, b"x" * 123)], 1000),
    "7 reason of 124 bytes": ([_close(1000, b"x" * 124)], 1002),
    "7 reason that is no text": ([_close(1000, b"\xce\xba\xed\xa0\x80")], 1007),
    "7 text after the close": ([_close(1000), frame(TEXT, SAID)], 1000),
    "7 two closes": ([_close(1000), _close(1001)], 1000),
    **{
        f"7 close {code}": ([_close(code)], code)
        for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
    },
    **{
        f"7 close {code}, which means nothing": ([_close(code)], 1002)
        for code in (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535)
    },
}
LIMITS: Cases = {
    "9 the largest message": ([frame(TEXT, b"x" * MAX_BYTES)], STAYS),
    "9 one byte more": ([frame(TEXT, b"x" * (MAX_BYTES + 1))], 1009),
    "9 one byte more in fragments": (
        [frame(TEXT, b"x" * MAX_BYTES, fin=False), frame(CONT, b"x")],
        1009,
    ),
    "10 a message byte by byte": ([bytes([byte]) for byte in frame(TEXT, b"x" * 130)], STAYS),
}
CASES = FRAMING | PINGS | RESERVED | FRAGMENTS | UTF8 | CLOSING | LIMITS


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with complaints() as written, run_server_in_thread(ws_messages_per_minute=1_000_000) as running:
        yield running
    assert written == []


@pytest.mark.parametrize(("packets", "due"), CASES.values(), ids=CASES)
def test_it_stays_open_or_closes_with_the_code_that_is_due(
    server: Running, packets: list[bytes], due: int | None
) -> None:
    answer = b""
    with contextlib.closing(opened(server.port)) as sock, contextlib.suppress(ConnectionError):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for packet in packets:
            sock.sendall(packet)
        if due is STAYS:
            sock.sendall(frame(TEXT, SAID))
            while b'"pong"' not in answer and (chunk := sock.recv(65_536)):
                answer += chunk
            sock.sendall(_close(1000))
        while chunk := sock.recv(65_536):
            answer += chunk
    assert close_code(answer) == (1000 if due is STAYS else due)
    assert (b'"pong"' in answer) == (due is STAYS)


def test_pings_are_answered_with_their_payload(server: Running) -> None:
    with contextlib.closing(opened(server.port)) as sock:
        sock.sendall(frame(PING, b"\xfe" * 125) + _close(1000))
        answer = b""
        while chunk := sock.recv(65_536):
            answer += chunk
    assert frame(PONG, b"\xfe" * 125, masked=False) in answer
