"""HTTP answers out of reads, however the network cut them."""

import zlib

import pytest

from app.client.http_answer import BrokenAnswer, HttpAnswer, Request

CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n3\r\n yo\r\n0\r\n\r\n"
)


def answer() -> HttpAnswer:
    return HttpAnswer(Request("GET", "/x", {"Accept": "*/*"}), "h:1")


def fed(data: bytes, *cuts: int, closes: bool = False) -> tuple[HttpAnswer, bytes, int]:
    """(the answer, its body, chunks counted) after reads cut at ``cuts``."""
    http, body, chunks = answer(), b"", 0
    borders = [0, *cuts, len(data)]
    parts = [data[a:b] for a, b in zip(borders, borders[1:], strict=False)] + ([b""] if closes else [])
    for at_ns, part in enumerate(parts):
        if part or closes:
            read = http.feed(at_ns, part)
            if read is not None:
                assert read.at_ns == at_ns
                body += read.data
                chunks += read.chunks
    return http, body, chunks


def test_a_request_is_complete_and_carries_its_length() -> None:
    sent = HttpAnswer(Request("POST", "/x?y=1", {"A": "b"}, b"{}"), "h:1").opening
    assert sent.startswith(b"POST /x?y=1 HTTP/1.1\r\n")
    assert b"Host: h:1\r\n" in sent
    assert b"Content-Length: 2\r\n" in sent
    assert sent.endswith(b"\r\n\r\n{}")


@pytest.mark.parametrize("cut", range(1, len(CHUNKED)))
def test_chunks_are_counted_once_whatever_the_cut(cut: int) -> None:
    http, body, chunks = fed(CHUNKED, cut)
    assert (body, chunks, http.complete, http.ends_by_closing) == (b"hello yo", 2, True, False)
    assert http.head is not None
    assert (http.head.status, http.head.version, http.head.get("content-type")) == (200, "1.1", "text/plain")


def test_an_end_in_the_middle_is_broken() -> None:
    with pytest.raises(BrokenAnswer):
        fed(CHUNKED[:-5], closes=True)


def test_http_1_0_ends_by_closing() -> None:
    http, body, _ = fed(b"HTTP/1.0 200 OK\r\n\r\nsome text", closes=True)
    assert (body, http.complete, http.ends_by_closing) == (b"some text", True, True)
    assert http.head is not None
    assert http.head.version == "1.0"


def test_what_is_not_http_is_broken() -> None:
    with pytest.raises(BrokenAnswer):
        fed(b"SSH-2.0-x\r\n\r\n")


@pytest.mark.parametrize("flush", [zlib.Z_SYNC_FLUSH, zlib.Z_NO_FLUSH])
def test_compressed_text_is_there_as_soon_as_the_compressor_lets_it_go(flush: int) -> None:
    zipper = zlib.compressobj(wbits=31)
    first = zipper.compress(b"hello ") + (zipper.flush(flush) if flush == zlib.Z_SYNC_FLUSH else b"")
    rest = zipper.compress(b"world") + zipper.flush()
    http = answer()
    http.feed(0, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 999\r\n\r\n")
    read = http.feed(1, first) if first else None
    early = read.data if read is not None else b""
    late = http.feed(2, rest)
    assert late is not None
    assert early == (b"hello " if flush == zlib.Z_SYNC_FLUSH else b"")
    assert early + late.data == b"hello world"


def test_an_answer_without_a_body_is_complete_at_once() -> None:
    http, body, _ = fed(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert (body, http.complete, http.ends_by_closing) == (b"", True, False)


def test_an_interim_answer_is_skipped() -> None:
    http, body, _ = fed(b"HTTP/1.1 103 Early Hints\r\n\r\n" + CHUNKED)
    assert (body, http.complete) == (b"hello yo", True)
