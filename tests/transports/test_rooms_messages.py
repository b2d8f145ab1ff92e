"""The socket's own messages of a room."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from app.errors import BadRequest, Forbidden, NotFound, RateLimited
from app.transports.rooms_messages import close_code, error_frame, packet, read_hello, read_ping, type_of


@given(st.one_of(st.text(max_size=300), st.integers(65_530, 65_540).map(lambda n: "x" * n)))
def test_a_packet_is_what_a_websocket_library_would_send(text):
    assert packet(text) == Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


def test_a_hello_names_one_of_three_roles():
    assert read_hello('{"type": "hello", "role": "wall", "token": "t"}').token == "t"
    for wrong in (
        None,
        "",
        "[]",
        '{"type": "hello", "role": "system"}',
        '{"type": "hello", "role": "host", "x": 1}',
    ):
        with pytest.raises(BadRequest, match="hello"):
            read_hello(wrong)


@pytest.mark.parametrize("text", [None, "", "5", "{}", '{"type": 5}', "x" * 20_000, "[" * 10_000])
def test_what_has_no_type_is_no_message(text):
    with pytest.raises(BadRequest):
        type_of(text)


def test_a_ping_gets_its_stamp_back():
    assert read_ping('{"type": "ping", "t": 5.5}') == 5.5 and read_ping('{"type": "ping"}') is None
    with pytest.raises(BadRequest):
        read_ping('{"type": "ping", "t": "now"}')


def test_an_error_says_what_it_is_about_and_final_ones_close_finally():
    frame = json.loads(error_frame(BadRequest("no", param="choice"), "vote"))
    assert (frame["code"], frame["param"], frame["about"]) == ("invalid_request", "choice", "vote")
    assert [close_code(kind("x")) for kind in (Forbidden, NotFound, RateLimited)] == [4401, 4404, 4429]
