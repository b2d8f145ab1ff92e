"""A real gzip on the way: flushed it gives every event, unflushed it eats them until the end."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.events import Delta, Error
from app.lab.compression import FLUSHES, Flush, Squeeze

END = Error("engine_error", "over", False)


@pytest.mark.parametrize("flush", FLUSHES)
@given(lines=st.lists(st.binary(max_size=80), max_size=30))
def test_everything_comes_out_in_the_end(flush: Flush, lines: list[bytes]) -> None:
    squeeze = Squeeze(flush)
    out = b"".join(squeeze.on(Delta("r", 1, "", 1, 0.0), line) for line in lines)
    out += squeeze.on(END, b"end\n")
    assert zlib.decompress(out, wbits=31) == b"".join(lines) + b"end\n"


def test_flushed_every_event_can_be_read_at_once() -> None:
    squeeze, reader = Squeeze("each"), zlib.decompressobj(wbits=31)
    for number in range(1, 20):
        line = b'{"seq": %d}\n' % number
        assert reader.decompress(squeeze.on(Delta("r", number, "", 1, 0.0), line)) == line


def test_unflushed_a_short_answer_stays_inside() -> None:
    squeeze, reader = Squeeze("end"), zlib.decompressobj(wbits=31)
    out = b"".join(squeeze.on(Delta("r", n, "", 1, 0.0), b'{"seq": %d}\n' % n) for n in range(100))
    assert reader.decompress(out) == b""
