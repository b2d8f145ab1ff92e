"""AnswerParser: the same answer, however its bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.answer_parser import AnswerParser, BrokenAnswer

EVENTS = (b'data: {"n": 1}', "data: कहानी".encode(), b"data: [DONE]")
BODY = b"\n\n".join(EVENTS) + b"\n\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def chunked(body: bytes, size: int) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    framed = b"".join(b"%x;note=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return HEAD + b"transfer-encoding: Chunked\r\n\r\n" + framed + b"0\r\n\r\n"


ANSWERS = {
    "chunked": chunked(BODY, 7),
    "counted": HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
    "closed": HEAD + b"\r\n" + BODY,
}


def lines_of(parser: AnswerParser) -> list[bytes]:
    return [line for _, line in parser.lines]


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_cut_in_two_gives_the_same_lines(kind):
    answer = ANSWERS[kind]
    for cut in range(len(answer) + 1):
        parser = AnswerParser()
        parser.feed(answer[:cut], 1)
        parser.feed(answer[cut:], 2)
        parser.end(3)
        assert parser.status == 200 and parser.done
        assert lines_of(parser) == list(EVENTS)


@given(sizes=st.lists(st.integers(1, 40), min_size=1), kind=st.sampled_from(sorted(ANSWERS)))
def test_any_cuts_give_the_same_lines(sizes, kind):
    answer, parser, at, turn = ANSWERS[kind], AnswerParser(), 0, 0
    while at < len(answer):
        size = sizes[turn % len(sizes)]
        parser.feed(answer[at : at + size], turn)
        at, turn = at + size, turn + 1
    parser.end(turn)
    assert lines_of(parser) == list(EVENTS)
    assert [t for t, _ in parser.lines] == sorted(t for t, _ in parser.lines)


def test_a_line_is_stamped_when_its_end_is_read():
    parser = AnswerParser()
    parser.feed(HEAD + b"\r\ndata: a", 10)
    assert parser.lines == []
    parser.feed(b"b\ndata: c\n", 20)
    assert parser.lines == [(20, b"data: ab"), (20, b"data: c")]


def test_a_last_line_without_an_end_is_kept_when_the_answer_ends():
    parser = AnswerParser()
    parser.feed(HEAD + b"Content-Length: 6\r\n\r\n{}\n[1]", 5)
    assert parser.done and lines_of(parser) == [b"{}", b"[1]"]


@pytest.mark.parametrize("cut", range(len(ANSWERS["chunked"])))
def test_a_chunked_answer_that_breaks_off_is_broken(cut):
    parser = AnswerParser()
    parser.feed(ANSWERS["chunked"][:cut], 1)
    if not parser.done:
        with pytest.raises(BrokenAnswer, match="in the middle"):
            parser.end(2)


def test_what_is_no_http_is_refused():
    with pytest.raises(BrokenAnswer, match="no HTTP answer"):
        AnswerParser().feed(b"SSH-2.0-none\r\n\r\n", 1)
